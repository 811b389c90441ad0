"""The sections of the page, in plain words: a sentence or two, then the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mvrbm.report import charts, findings
from mvrbm.report.findings import Blanks, Pattern, Survey, Together, Told
from mvrbm.report.html import Markup, el, join, short
from mvrbm.units import Question

FIRST = 12
"""Entries of a long list that are seen at once."""


def title_of(question: Question) -> str:
    """What a question is called."""
    return question.label or question.name


def section(key: str, title: str, *inside: object) -> Markup:
    """A part of the page with its heading."""
    return el("section", el("h2", title, id=f"{key}-title"), *inside, id=key, aria_labelledby=f"{key}-title")


def per_cent(share: float) -> str:
    """A share as people read it."""
    return f"{100 * share:.1f}%" if share < 0.995 or share > 1 else f"{100 * share:.0f}%"


def folded(items: Sequence[Markup], what: str, tag: str = "ul", class_: str = "rows", first: int = FIRST) -> Markup:
    """A list, its tail folded away if it is long."""
    head = el(tag, *items[:first], class_=class_)
    if len(items) <= first:
        return head
    rest = el(tag, *items[first:], class_=class_)
    return join(head, el("details", el("summary", f"{len(items) - first} more {what}"), rest))


def note(*inside: object) -> Markup:
    """A remark in smaller type."""
    return el("p", *inside, class_="note")


def head(survey: Survey, title: str) -> Markup:
    """The survey and the model in figures."""
    answered = 1 - float(survey.blank.mean())
    facts = [
        (f"{survey.n_people:,}", "people"),
        (f"{len(survey.schema):,}", "questions"),
        (f"{100 * answered:.0f}%", "of the answers are there"),
        (f"{survey.model.rbm_.n_hidden}", "patterns learnt"),
    ]
    figures = [el("div", el("dd", number), el("dt", name)) for number, name in facts]
    kinds = Counter(question.spoken for question in survey.schema)
    listed = [el("li", spoken, ": ", el("b", n)) for spoken, n in kinds.most_common()]
    return el(
        "header",
        el("h1", title),
        el("p", "What a computer model learnt from this survey: who is like whom, which answers go together, and how "
           "much of each answer can be told from the others.", class_="lead"),
        el("dl", *figures, class_="figures"),
        el("ul", *listed, class_="kinds"),
        _settings(survey),
    )  # fmt: skip


def _settings(survey: Survey) -> Markup:
    model = survey.model
    given = {name: value for name, value in model.get_params(deep=False).items() if name not in ("schema", "verbose")}
    rows = [
        el("tr", el("th", name, scope="row"), el("td", value)) for name, value in given.items() if value is not None
    ]
    weight = note(f"People count by the column {survey.schema.weight!r}.") if survey.weights is not None else None
    return join(
        weight,
        el("details", el("summary", "Settings of the model"), el("table", *rows),
           note("The model is a Mixed-Variate Restricted Boltzmann Machine; what is not listed is at its default.")),
    )  # fmt: skip


def people_map(survey: Survey, n_shown: int) -> Markup:
    """The map, which a script draws from the data in the page."""
    if not survey.model.rbm_.n_hidden:
        return section("map", "The map of people", el("p", "This model learnt no patterns, so there is no map."))
    sample = (
        f" It shows {n_shown:,} of the {survey.n_people:,} people, chosen at random."
        if n_shown < survey.n_people
        else ""
    )
    return section(
        "map",
        "The map of people",
        el("p", "Each dot is a person. People who answered alike stand close together; the directions themselves mean "
           "nothing. Choose a question to colour the dots by its answers. Point at a dot, or tap it, to read what that "
           "person answered." + sample),
        el("noscript", el("p", "The map is drawn by a script, which is switched off here. All else on this page works "
                          "without.")),
        el("div",
           el("div", el("label", "Question", for_="question"), el("select", id="question"), class_="choice"),
           el("div", el("label", "What of it", for_="view"), el("select", id="view"), class_="choice", id="view-choice",
              hidden=True),
           class_="choices"),
        el("div",
           el("figure",
              el("div",
                 el("canvas", id="people", tabindex=0, role="img", aria_describedby="map-how",
                    aria_label="Map of people, coloured by the answers to the chosen question"),
                 el("div", id="ring", hidden=True), el("div", id="tip", role="status", hidden=True),
                 class_="canvas"),
              el("figcaption", "The arrow keys go from person to person.", id="map-how", class_="note")),
           el("div",
              el("ul", id="legend", class_="legend", aria_label="What the colours mean"),
              note("Press a colour to see only its people."),
              el("div", el("h3", "Answers of one person", id="person-title"),
                 el("p", "Point at a dot.", id="person-hint"), el("dl", id="person", tabindex=0,
                 aria_labelledby="person-title"), class_="person"),
              class_="beside"),
           class_="map"),
        note("This page holds the answers of the people shown, without names. Treat it as you treat the survey."),
    )  # fmt: skip


def hidden_patterns(found: list[Pattern]) -> Markup | None:
    """What each hidden unit stands for."""
    if not found:
        return None
    most = max([abs(weight) for p in found for _, _, weight in (*p.raises, *p.lowers)], default=1.0)
    cards = []
    for number, pattern in enumerate(found, start=1):
        lists = [
            el("div", el("h4", title), el("ul", *[_answer(entry, most, class_) for entry in entries], class_="answers"))
            for title, entries, class_ in (
                ("More likely with it", pattern.raises, "mark"), ("Less likely with it", pattern.lowers, "against"),
            )
        ]  # fmt: skip
        said = f"{100 * pattern.share:.0f}% of the people have it"
        cards.append(
            el("article", el("h3", f"Pattern {number}"), note(said, f" (column {pattern.name})"),
               el("div", *lists, class_="two"), class_="card")
        )  # fmt: skip
    shown = el("div", *cards[:6], class_="cards")
    rest = el("details", el("summary", f"{len(cards) - 6} more patterns"), el("div", *cards[6:], class_="cards"))
    return section(
        "patterns",
        "The patterns behind the answers",
        el("p", "The model explains the answers by a number of patterns. A person has some of them and lacks others, "
           "and each makes some answers more likely and others less. Those in which people differ most come first; the "
           "longer the bar, the stronger the pull."),
        shown,
        rest if len(cards) > 6 else None,
    )  # fmt: skip


def _answer(entry: tuple[Question, str, float], most: float, class_: str) -> Markup:
    question, answer, weight = entry
    return el(
        "li",
        el("span", el("b", short(answer)), " ", el("span", short(title_of(question), 80), class_="of")),
        charts.bar((abs(weight) / most, class_), said=f"strength {abs(weight):.2f}"),
    )


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
        el("ul", el("li", _swatch("mark"), "guessed by the model"),
           el("li", _swatch("plain"), "the same for everybody"), class_="legend"),
        note("If these are the people that the model learnt from, it has seen their answers before, and the true "
             "errors are somewhat larger."),
        *[_kind(told, questions) for questions in by_kind.values()],
        _calibration(by_kind, told),
    )  # fmt: skip


def _swatch(class_: str) -> Markup:
    return el("svg", el("rect", width=14, height=14, class_=class_), viewBox="0 0 14 14", class_="swatch",
              aria_hidden="true")  # fmt: skip


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
    legend = el("ul", el("li", _swatch("mark"), "no answer"), el("li", _swatch("plain"), "not asked"), class_="legend")
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


STOPPED = {
    "early_stopping": "It stopped because the guesses no longer got better.",
    "max_epochs": "It stopped because it had made as many rounds as it was allowed.",
    "interrupted": "It was stopped by hand.",
    "no hidden units": "There was nothing to train: the model has no patterns.",
}
MEASURES = {
    "loss": (
        "Error on answers kept from it",
        "The lower, the likelier the model found the answers that it was not shown.",
    ),
    "learning_rate": ("Size of its steps", "Steps get smaller when the larger ones no longer help."),
    "free_energy_gap": (
        "Gap in free energy",
        "Near 0, people it learnt from and others look alike to it; a growing gap means learning by heart.",
    ),
}


def training_section(survey: Survey) -> Markup:
    """How training went."""
    history = survey.model.history_
    told = STOPPED.get(history.stopped, f"It stopped: {history.stopped}.")
    if not history.epochs:
        return section("training", "How training went", el("p", told))
    keys = list(dict.fromkeys(key for entry in history.epochs for key in entry))
    keys.sort(key=lambda key: list(MEASURES).index(key) if key in MEASURES else len(MEASURES))
    figures = []
    for key in keys:
        values = [float(entry[key]) for entry in history.epochs if key in entry]
        title, meaning = MEASURES.get(key, (key.replace("_", " ").capitalize(), ""))
        best = (history.best_epoch, f"best: round {history.best_epoch}") if key == "loss" else None
        start = history.start_loss if key == "loss" else None
        drawn = charts.lines(
            values, said=f"{title}, from {values[0]:.4g} to {values[-1]:.4g} in {len(values)} rounds", x_title="round",
            mark=best, level=None if start is None else (start, "the same for everybody"),
            logarithmic=key == "learning_rate",
        )  # fmt: skip
        figures.append(el("figure", el("h3", title), drawn, el("figcaption", meaning)))
    kept = (
        f" The model is that of round {history.best_epoch}, the best on answers that it was not shown."
        if any("loss" in entry for entry in history.epochs)
        else " No answers were kept from it, so there is no error to follow."
    )
    astray = f" It went astray {history.undone} times and was taken back." if history.undone else ""
    return section(
        "training",
        "How training went",
        el("p", f"The model went over the survey {len(history.epochs)} times. {told}{kept}{astray}"),
        el("div", *figures, class_="charts"),
    )
