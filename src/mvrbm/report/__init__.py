"""The report: one HTML file that shows a survey and what a model learnt from it, to the person who asked for it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mvrbm.estimators import MVRBM
from mvrbm.report import findings, people, questions
from mvrbm.report.page import page
from mvrbm.report.picture import picture
from mvrbm.report.places import Progress, places
from mvrbm.report.shown import page_data, people_shown
from mvrbm.whole import written_whole

__all__ = ["map_svg", "people_map", "write_report"]


def write_report(
    model: MVRBM,
    data: Any,
    path: str | os.PathLike[str],
    *,
    title: str = "Survey report",
    positions: ArrayLike | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> None:
    """Write a report on a fitted model and a table as one HTML file: readable offline, on paper and on a phone.

    `positions` are places on the map that `people_map` found before; `random_state` is the seed of the map and
    of the people chosen where there are too many to show or check. `progress` is told what is being done
    and how much of it is done, from 0 to 1.

    The file holds the answers of the people whom the map shows.
    """
    survey = findings.Survey(model, data, random_state)
    found = _positions(survey, positions, progress)
    told = findings.told_from_the_rest(survey, progress)
    links = findings.together(survey)
    rows = people_shown(survey) if found is not None else np.zeros(0, np.int64)
    parts = [
        people.people_map(survey, len(rows)),
        people.hidden_patterns(findings.patterns(survey)),
        questions.told_section(survey, told),
        questions.together_section(links),
        questions.blanks_section(survey, findings.blanks(survey)),
        people.training_section(survey),
    ]
    shown = {} if found is None else page_data(survey, found, rows, links.hub if links else survey.schema.names[0])
    made_by = "Made by mvrbm. Nothing on this page was fetched from anywhere, and nothing is sent."
    whole = page(title, people.head(survey, title), [part for part in parts if part is not None], shown, made_by)
    with written_whole(path) as beside:
        beside.write_text(whole, encoding="utf-8")
    if progress:
        progress("writing the report", 1.0)


def people_map(
    model: MVRBM, data: Any, *, random_state: int = 0, progress: Progress | None = None
) -> NDArray[np.float64]:
    """The place of each row on the map of people, (rows, 2): t-SNE of the model's vectors."""
    survey = findings.Survey(model, data, random_state)
    found = _positions(survey, None, progress)
    if found is None:
        raise ValueError("the model has no hidden units, so there is no map; fit one with n_hidden above 0")
    return found


def map_svg(
    model: MVRBM,
    data: Any,
    path: str | os.PathLike[str],
    *,
    question: str | None = None,
    positions: ArrayLike | None = None,
    random_state: int = 0,
    most_people: int = 3000,
    progress: Progress | None = None,
) -> None:
    """Write the map of people, coloured by the answers to a question, as an SVG picture.

    The question is the one with the closest links to all others, if none is named. Of many people it shows
    `most_people`, chosen at random.
    """
    survey = findings.Survey(model, data, random_state)
    links = findings.together(survey) if question is None else None
    question = question or (links.hub if links else survey.schema.names[0])
    if question not in survey.schema.names:
        raise ValueError(f"no question is named {question!r}; model.schema_.names lists them")
    found = _positions(survey, positions, progress)
    if found is None:
        raise ValueError("the model has no hidden units, so there is no map; fit one with n_hidden above 0")
    rows = survey.random.permutation(survey.n_people)[:most_people]
    with written_whole(path) as beside:
        beside.write_text(picture(survey, found, rows, question), encoding="utf-8")


def _positions(
    survey: findings.Survey, given: ArrayLike | None, progress: Progress | None
) -> NDArray[np.float64] | None:
    if given is None and survey.vectors.shape[1]:
        return places(survey.vectors, survey.random_state, progress)
    if given is None:
        return None
    found = np.asarray(given, np.float64)
    if found.shape != (survey.n_people, 2) or not np.isfinite(found).all():
        raise ValueError(f"positions must be {survey.n_people} rows of two finite numbers, as people_map gives them")
    return found
