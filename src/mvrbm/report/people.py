"""The sections about people and the model: the head, the map, the patterns, training."""

from __future__ import annotations

from collections import Counter

from mvrbm.report import charts
from mvrbm.report.findings import Pattern, Survey
from mvrbm.report.html import Markup, el, join, short
from mvrbm.report.parts import note, section, title_of
from mvrbm.units import Question


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
        el("span", el("b", short(answer)), " ", el("span", short(title_of(question), 56), class_="of")),
        charts.bar((abs(weight) / most, class_), said=f"strength {abs(weight):.2f}"),
    )


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
    "learning_rate": (
        "Size of its steps",
        "Steps get larger where much is learnt slowly, and smaller when they no longer help.",
    ),
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
