"""The people of the map as data for the page: places and answers, compact."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm import encoding
from mvrbm.cells import distinct_rows
from mvrbm.report.colours import coloured
from mvrbm.report.findings import Survey
from mvrbm.report.html import text

MOST_BYTES = 3_000_000
"""What the answers of the people shown may take in the page."""


def people_shown(survey: Survey) -> NDArray[np.int64]:
    """The rows to show, in random order, so that nobody always covers others: all, or as many as the page can hold."""
    most = int(MOST_BYTES / (4 / 3 * (len(survey.schema) + 8)))
    return survey.random.permutation(survey.n_people)[:most]


def page_data(survey: Survey, places: NDArray[np.float64], rows: NDArray[np.int64], first: str) -> dict[str, Any]:
    """Places, rows and answers of some people, in words and in colours; `first` is the question to colour by first."""
    square, tall = on_square(places)
    x, y = square.T[:, rows]
    answers = survey.answers.take(rows)
    questions = [_question(question, block) for question, block in encoding.blocks(answers, survey.schema)]
    return {
        "x": _packed(x),
        "y": _packed(y),
        "tall": tall,
        "rows": _packed(rows, np.uint32),
        "first": survey.schema.names.index(first),
        "questions": questions,
    }


def on_square(places: NDArray[np.float64]) -> tuple[NDArray[np.int64], float]:
    """Places as whole numbers from 0 to 65535, around the middle, and how tall the map is beside its width."""
    low, high = places.min(axis=0), places.max(axis=0)
    size = max(float((high - low).max()), 1e-12)
    middle = (low + high) / 2
    whole: NDArray[np.int64] = np.rint(((places - middle) / size + 0.5) * 65535).astype(np.int64)
    return whole, round(float(np.clip((high - low)[1] / size, 0.5, 1)), 3)


def _question(question: Any, block: Any) -> dict[str, Any]:
    answers, which = distinct_rows(block) if question.n_codes else _distinct_numbers(block)
    told = [text(said) for said in question.tell(answers)]
    counts = np.bincount(which, minlength=len(answers))
    views = []
    for view in question.views(answers):
        drawn = coloured(view, told, counts)
        views.append({"title": text(view.title), "names": [text(n) for n in drawn.names],
                      "colours": drawn.colours, "of": drawn.of})  # fmt: skip
    kind = np.uint8 if len(answers) <= 256 else np.uint16 if len(answers) <= 65536 else np.uint32
    return {
        "name": text(question.label or question.name),
        "group": question.spoken,
        "answers": told,
        "bytes": np.dtype(kind).itemsize,
        "which": _packed(which, kind),
        "views": views,
    }


def _distinct_numbers(block: Any) -> tuple[Any, Any]:
    found, which = np.unique(block[:, 0], return_inverse=True)
    return found[:, None], which


def _packed(values: Any, kind: type[np.unsignedinteger] = np.uint16) -> str:
    """Whole numbers as little-endian bytes in base64."""
    array = np.asarray(values).astype(np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(array.tobytes()).decode("ascii")
