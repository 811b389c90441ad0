"""The sections about questions: what can be told from the rest, what goes together, what is missing."""

from __future__ import annotations

import numpy as np

from mvrbm.report import charts, findings
from mvrbm.report.findings import Blanks, Survey, Together, Told
from mvrbm.report.html import Markup, el, join, short
from mvrbm.report.parts import folded, note, per_cent, section, swatch, title_of
from mvrbm.units import Question


def told_section(survey: Survey, told: Told) -> Markup:
    """How well questions can be told from the rest."""
    by_kind: dict[str, list[Question]] = {}
    for question in survey.schema:
        if question.name in told.by_question:
            by_kind.setdefault(question.kind, []).append(question)
    sample = f"{told.n_people:,} people chosen at random" if told.n_people < survey.n_people else "all people"
    return section(
        "told",
        "How well each answer can be told from the rest",
        el("p", f"For {sample}, each answer was covered up and guessed from the person's other answers. The dark bar "
           "is how far off the guesses were; the light bar behind it is how far off one would be by guessing the same "
           "for everybody. The shorter the dark bar beside the light one, the more the other answers give away."),
        el("ul", el("li", swatch("mark"), "guessed by the model"),
           el("li", swatch("plain"), "the same for everybody"), class_="legend"),
        note("If these are the people that the model learnt from, it has seen their answers before, and the true "
             "errors are somewhat larger."),
        *[_kind(told, questions) for questions in by_kind.values()],
        _calibration(by_kind, told),
    )  # fmt: skip


def _kind(told: Told, questions: list[Question]) -> Markup:
    kind = questions[0]
    own, plain = told.by_question, told.guess_by_question
    most = max([*(own[q.name] for q in questions), *(plain[q.name] for q in questions), 1e-9])
    order = sorted(questions, key=lambda q: own[q.name] / max(plain[q.name], 1e-9))
    rows = []
    for question in order:
        error, guess = own[question.name], plain[question.name]
        said = f"{per_cent(error)}, and {per_cent(guess)} by guessing the same for everybody"
        rows.append(
            el("li", el("span", short(title_of(question), 90), class_="of"),
               charts.bar((guess / most, "plain"), (error / most, "mark"), said=said),
               el("span", el("b", per_cent(error)), f" instead of {per_cent(guess)}", class_="number"))
        )  # fmt: skip
    error, guess = told.by_kind[kind.kind], told.guess_by_kind[kind.kind]
    said = f"On the whole {per_cent(error)} {kind.error_means}; guessing the same for everybody, {per_cent(guess)}."
    return join(el("h3", kind.spoken.capitalize()), el("p", said), folded(rows, "questions"))


def _calibration(by_kind: dict[str, list[Question]], told: Told) -> Markup:
    figures = []
    for kind, questions in by_kind.items():
        if kind in told.curves:
            curve, name = told.curves[kind], questions[0].spoken
            said = f"{name.capitalize()}: off by {100 * told.off[kind]:.1f} points of a hundred on average"
            drawn = charts.calibration(curve.mean, curve.share, curve.weight, said)
            figures.append(el("figure", drawn, el("figcaption", said)))
    return join(
        el("h3", "Do its chances mean what they say?"),
        el("p", "The model also says how likely each answer is. Of all answers that it calls 70% likely, 70% should "
           "come true. On the dashed line what it says (across) and what happens (up) agree; larger dots stand for "
           "more answers."),
        el("div", *figures, class_="small-charts"),
    )  # fmt: skip


def blanks_section(survey: Survey, blanks: Blanks) -> Markup:
    """What was missing and where."""
    total = blanks.not_asked + blanks.unanswered
    questions = list(survey.schema)
    rows = []
    for place in [int(p) for p in np.argsort(-total, kind="stable") if total[p] > 0]:
        parts = f"{per_cent(float(blanks.unanswered[place]))} no answer"
        if blanks.not_asked[place] > 0:
            parts += f", {per_cent(float(blanks.not_asked[place]))} not asked"
        bars = charts.stacked(
            (float(blanks.unanswered[place]), "mark"), (float(blanks.not_asked[place]), "plain"), said=parts
        )
        rows.append(
            el("li", el("span", short(title_of(questions[place]), 90), class_="of"), bars,
               el("span", el("b", per_cent(float(total[place]))), class_="number"), title=parts)
        )  # fmt: skip
    if not rows:
        return section("blanks", "What is missing", el("p", "Nothing: everybody answered every question."))
    skipped = bool(blanks.not_asked.any())
    legend = el("ul", el("li", swatch("mark"), "no answer"), el("li", swatch("plain"), "not asked"), class_="legend")
    return section(
        "blanks",
        "What is missing, and where",
        el("p", f"{per_cent(float(survey.blank.mean()))} of all answers are blank"
           + (", some because the question was not put to that person." if skipped else ".")
           + f" Questions without a blank: {int((total == 0).sum()):,} of {len(questions):,}."),
        legend if skipped else None,
        folded(rows, "questions with blanks"),
        el("h3", "By person"),
        el("p", "How many people left how many questions blank."),
        _by_person(blanks.people_by_number),
        _sets(survey, blanks) if blanks.patterns else None,
    )  # fmt: skip


def _by_person(people: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Markup:
    """Numbers of blanks in at most ten groups; nobody is a group of its own."""
    width = max(1, -(-(len(people) - 1) // 9))
    heights, names = [int(people[0])], ["none"]
    for start in range(1, len(people), width):
        stop = min(start + width, len(people))
        heights.append(int(people[start:stop].sum()))
        names.append(str(start) if stop - start == 1 else f"{start}-{stop - 1}")
    said = "; ".join(f"{name} blank: {number:,} people" for name, number in zip(names, heights, strict=True))
    return el("figure", charts.columns(heights, names, said, "questions left blank"))


def _sets(survey: Survey, blanks: Blanks) -> Markup:
    rows = []
    for people, names in blanks.patterns:
        told = [short(title_of(survey.schema[name]), 50) for name in names[:6]]
        more = f" and {len(names) - len(told)} more" if len(names) > len(told) else ""
        count = "this question" if len(names) == 1 else f"these {len(names)} questions"
        rows.append(
            el("li", el("b", f"{people:,} people"), f" left just {count} blank: ", "; ".join(told), more)
        )  # fmt: skip
    return join(el("h3", "What is left blank together"), el("ol", *rows))


def together_section(found: Together | None) -> Markup | None:
    """Which questions go together."""
    if found is None:
        return None
    names = [title_of(question) for question in found.questions]
    most = float(found.strength.max(initial=0.0))
    rows = [
        el("li",
           el("span", el("b", short(title_of(pair.questions[0]))), " and ", el("b", short(title_of(pair.questions[1]))),
              el("span", f": “{short(pair.answers[0], 40)}” {'goes against' if pair.against else 'goes with'} "
                 f"“{short(pair.answers[1], 40)}”", class_="of")),
           charts.bar((pair.strength, "mark"), said=f"strength {pair.strength:.2f} of 1"),
           el("span", f"{pair.strength:.2f}", class_="number"))
        for pair in found.pairs
    ]  # fmt: skip
    said = f"Heat map of {len(names)} questions; the strongest pairs are listed below"
    return section(
        "together",
        "Which questions go together",
        el("p", "Two questions go together if knowing the answer to one tells something about the other. Each square "
           "stands for two questions; the darker, the closer. Questions of one sort stand side by side, so dark blocks "
           "are topics."),
        el("div", charts.heat_map(found.strength, names, said), class_="wide", tabindex=0, role="region",
           aria_label="Heat map; scrolls sideways on a small screen"),
        charts.heat_legend(most),
        el("p", id="heat-told", class_="note", role="status"),
        el("h3", "The closest pairs"),
        el("ul", *rows, class_="rows"),
        note("0 is no link at all, 1 is one and the same. It is the part of the link that the patterns carry: the "
             "covariance of what they make of the two answers, beside how much the answers themselves vary. For two "
             "numbers that is a correlation without its sign."
             + (f" The picture shows the {findings.MOST_DRAWN} questions with the closest links."
                if len(names) == findings.MOST_DRAWN else "")),
    )  # fmt: skip
