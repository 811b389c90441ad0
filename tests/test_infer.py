"""What a table's columns are taken for, and why."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from mvrbm import yamltext
from mvrbm.encoding import encode
from mvrbm.notes import ChoiceSet, ColumnNotes, Notes
from mvrbm.schema import Schema
from mvrbm.units import Binary, Categorical, Continuous, Count, Multicategorical, Ordinal, Question, Ranking

N = 60


def over(values, n=N):
    """Fill a column by going round the values."""
    return list(itertools.islice(itertools.cycle(values), n))


def table(**columns):
    return pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})


def infer(data, **said) -> Schema:
    """Infer a schema and make sure that it reads the table it came from and survives a file."""
    schema = Schema.infer(data, **said)
    encode(data, schema.learn(data))
    assert Schema.from_dict(schema.to_dict()) == schema
    return schema


ORDERED = pd.Categorical(over(["mid", "low"]), ["low", "mid", "top"], ordered=True)
LIKERT = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
INCOME = ["Less than $25k", "$25k-50k", "$50k - $100k", "$100k or more"]

# name of the rule: cells, the question (without its name and column), words of the reason
ONE_COLUMN = {
    "booleans": (over([True, False]), Binary("x", [False, True]), "two values"),
    "booleans and blanks": (over([True, None, False]), Binary("x", [False, True]), "two values"),
    "two numbers": (over([2, 1]), Binary("x", [1, 2]), "two values"),
    "minus one and one": (over([1, -1]), Binary("x", [-1, 1]), "two values"),
    "no and yes": (over(["Yes", "No"]), Binary("x", ["No", "Yes"]), "two values"),
    "yes with more": (over(["Yes, often", "No, never"]), Binary("x", ["No, never", "Yes, often"]), "two values"),
    "agree": (over(["agree", "disagree"]), Binary("x", ["disagree", "agree"]), "two values"),
    "poles": (over(["high", "low"]), Binary("x", ["low", "high"]), "two values"),
    "no order": (over(["male", "female"]), Binary("x", ["female", "male"]), "two values"),
    "ordered": (ORDERED, Ordinal("x", ["low", "mid", "top"]), "ordered categories"),
    "unordered": (
        pd.Categorical(over([3, 1, 2])),
        Categorical("x", [1, 2, 3]),
        "categories, 3 different",
    ),
    "scale": (over([3, 1, 5, 2, 4]), Ordinal("x", [1, 2, 3, 4, 5]), "5 whole numbers, 1 to 5"),
    "scale with blanks": (over([3.0, 1.0, None, 2.0]), Ordinal("x", [1, 2, 3]), "3 whole numbers, 1 to 3"),
    "scale around 0": (over([-2, -1, 0, 1, 2]), Ordinal("x", [-2, -1, 0, 1, 2]), "-2 to 2"),
    "scale in texts": (over(["10", "2", "3"]), Ordinal("x", ["2", "3", "10"]), "whole numbers, 2 to 10"),
    "scale and a code": (over([1, 2, 3, 99]), Ordinal("x", [1, 2, 3, 99]), "99 looks like 'no answer'"),
    "scale and codes": (over([1, 2, 3, -1, 9]), Ordinal("x", [-1, 1, 2, 3, 9]), r"-1, 9 look like 'no answer'"),
    "ten points, no code": (over(range(1, 11)), Ordinal("x", list(range(1, 11))), "10 whole numbers, 1 to 10"),
    "ages": (over(range(18, 70)), Continuous("x", integer=True), "52 whole numbers, 18 to 69"),
    "ages of the young": (over(range(15, 23)), Continuous("x", integer=True), "8 whole numbers, 15 to 22"),
    "ages and a code": (over([*range(18, 70), 999]), Continuous("x", integer=True), "999 looks like 'no answer'"),
    "numbers": (over([1.5, 2.25, 7.0]), Continuous("x"), "numbers, 1.5 to 7"),
    "numbers in texts": (over(["34.5", "7", "12.25"]), Continuous("x"), "as texts"),
    "agreement": (over(LIKERT[::-1]), Ordinal("x", LIKERT), "order of a known scale"),
    "frequency": (over(["Often", "Never", "Always"]), Ordinal("x", ["Never", "Often", "Always"]), "known scale"),
    "satisfaction": (
        over(["satisfied", "very satisfied", "neutral", "very dissatisfied"]),
        Ordinal("x", ["very dissatisfied", "neutral", "satisfied", "very satisfied"]),
        "known scale",
    ),
    "quality": (
        over(["good", "fair", "poor", "excellent", "very good"]),
        Ordinal("x", ["poor", "fair", "good", "very good", "excellent"]),
        "known scale",
    ),
    "degree": (
        over(["Very likely", "Not at all likely", "Somewhat likely"]),
        Ordinal("x", ["Not at all likely", "Somewhat likely", "Very likely"]),
        "known scale",
    ),
    "numbered words": (
        over(["3 - often", "1 - never", "2 - sometimes"]),
        Ordinal("x", ["1 - never", "2 - sometimes", "3 - often"]),
        "known scale",
    ),
    "ends with words": (
        over(["3 (very)", "1 (not at all)", "2"]),
        Ordinal("x", ["1 (not at all)", "2", "3 (very)"]),
        "",
    ),
    "ages in ranges": (
        over(["30-44", "> 60", "18-29", "45-60"]),
        Ordinal("x", ["18-29", "30-44", "45-60", "> 60"]),
        "",
    ),
    "incomes in ranges": (over(INCOME[::-1]), Ordinal("x", INCOME), "ranges of numbers"),
    "a word too many": (
        over(["never", "often", "always", "purple"]),
        Categorical("x", ["always", "never", "often", "purple"]),
        "texts, 4 different",
    ),
    "no answer in words": (
        over(["a", "b", "Refused"]),
        Categorical("x", ["Refused", "a", "b"]),
        "'Refused' looks like 'no answer'",
    ),
    "texts": (over(["red", "blue", "green"]), Categorical("x", ["blue", "green", "red"]), "texts, 3 different"),
    "texts and numbers": (over(["red", 1, 2.5]), Categorical("x", [1, 2.5, "red"]), "texts and numbers"),
    "codes with noughts": (over(["01", "02", "10"]), Categorical("x", ["01", "02", "10"]), "texts"),
    "options in a text": (
        over(["a;b", "a", "b; c", "c;a"]),
        Multicategorical("x", column="x", separator=";", values=["a", "b", "c"]),
        "3 options, separated by ';'",
    ),
    "options after commas": (
        over(["tv, radio", "tv", "radio, web", "web, tv", "radio", "tv, radio, web"]),
        Multicategorical("x", column="x", separator=",", values=["radio", "tv", "web"]),
        "separated by ','",
    ),
    "commas in answers": (
        over(["Yes, often", "Yes, once", "No, never"]),
        Categorical("x", ["No, never", "Yes, often", "Yes, once"]),
        "",
    ),
    "cities": (
        over(["Paris, France", "Lyon, France", "Rome, Italy", "Pisa, Italy"]),
        Categorical("x", ["Lyon, France", "Paris, France", "Pisa, Italy", "Rome, Italy"]),
        "texts",
    ),
    "a ranking": (
        over(["a>b>c", "b>a=c", "c>b"]),
        Ranking("x", column="x", values=["a", "b", "c"]),
        "3 items in an order",
    ),
    "empty texts": (over(["a", "", "b", "c"]), Categorical("x", ["a", "b", "c"]), "texts, 3 different"),
}

ASIDE = {
    "constant": (over([7]), "one value, 7"),
    "a tick or an empty text": (over(["chess", "", ""]), "one value, 'chess'"),
    "constant text": (over(["x", None]), "one value, 'x'"),
    "nothing": ([None] * N, "no answers"),
    "ids": (list(range(1000, 1000 + N)), "as in ids"),
    "ids in texts": ([f"r{number}" for number in range(N)], "as in ids"),
    "free texts": ([f"I think that number {number} is the best of all" for number in range(N)], "free answers"),
    "often free texts": (
        [f"I say {number // 2} and nothing else at all" for number in range(N)],
        "free texts: 30 different",
    ),
    "many texts": ([f"word{number % 20}" for number in range(N)], "too many different texts: 20 different in 60"),
    "dates": (pd.date_range("2020-01-01", periods=N), "datetime64"),
    "dates in cells": ([datetime.date(2020, 1, 1 + number % 9) for number in range(N)], "dates or times"),
    "dates in texts": ([f"2020-01-{10 + number % 9}" for number in range(N)], "dates or times, as texts"),
    "dicts": ([{"a": 1}] * N, "neither a text nor a number"),
    "infinite": (over([1.5, 2.5, np.inf]), "infinite"),
    "complex": (over([1j, 2.0]), "complex"),
}


@pytest.mark.parametrize("rule", ONE_COLUMN)
def test_one_column(rule):
    cells, expected, words = ONE_COLUMN[rule]
    schema = infer(pd.DataFrame({"x": cells}))
    assert schema.questions == [expected]
    assert words in schema.reasons["x"]


@pytest.mark.parametrize("rule", ASIDE)
def test_set_aside(rule):
    cells, words = ASIDE[rule]
    schema = infer(pd.DataFrame({"x": cells, "y": over([1, 2])}))
    assert schema.names == ["y"]
    assert schema.ignore == ["x"]
    assert words in schema.reasons["x"]


@pytest.mark.parametrize(
    "scale",
    [
        "Never < Sometimes < About half the time < Most of the time < Always",
        "None at all < A little < A moderate amount < A lot < A great deal",
        "Not at all useful < Slightly useful < Moderately useful < Very useful < Extremely useful",
        "Extremely dissatisfied < Slightly dissatisfied < Neither satisfied nor dissatisfied < Slightly satisfied",
        "strongly oppose < somewhat oppose < somewhat support < strongly support",
        "Disagree strongly < Disagree < Neutral < Agree < Agree strongly",
        "Not at all < Several days < More than half the days < Nearly every day",
        "low < medium < high",
        "Never < Monthly < Weekly < Daily",
        "Under 18 < 18 - 24 < 25 to 44 < 45-64 years < 65 years and older",
        "Less than $25,000 < $25,000 - $49,999 < $50,000 to $99,999 < $100,000+",
        "up to 1 hour < 1-2 hours < more than 2 hours",
        "0 < 1 < 2 < 3+",
        "< 30 % < 30 - 60 % < > 60 %",
        "$0 to under $10k < $10k to under $50k < Over $50k",
    ],
)
def test_known_scales(scale):
    levels = scale.replace("< 30 %", "below 30 %").split(" < ")
    schema = infer(pd.DataFrame({"x": over(levels[::-1])}))
    assert schema.questions == [Ordinal("x", levels)]


@pytest.mark.parametrize(
    "texts",
    [
        ["good", "bad", "ugly"],
        ["18-29", "25-40", "41-60"],  # they overlap
        ["often", "frequently", "never"],  # which of the two is more?
        ["555-1234", "555-2345", "444-9999"],
        ["left", "right", "ahead"],
        ["1. tea", "2. milk", "3. beer"],
    ],
)
def test_no_scale(texts):
    assert infer(pd.DataFrame({"x": over(texts)})).questions == [Categorical("x", sorted(texts))]


def test_many_different_answers():
    n = 3000
    frame = pd.DataFrame(
        {
            "steps": [7 * (row // 2) for row in range(n)],
            "share": [row / 7 for row in range(n)],
            "word": [f"word {row % 250}" for row in range(n)],
            "number": [str(row % 1500) for row in range(n)],
            "number as id": np.random.default_rng(0).permutation(n) * 1000,
        }
    )
    schema = infer(frame)
    assert schema.questions == [
        Continuous("steps", integer=True),
        Continuous("share"),
        Continuous("number", integer=True),
    ]
    assert schema.reasons["word"] == "too many different texts, 250 (more than 200)"
    assert "as in ids" in schema.reasons["number as id"]


def test_one_heading_over_several_columns():
    ticks = {name: TICKS[n] for n, name in enumerate(["Which do you like?", "Unnamed: 3", "Unnamed: 4"], 1)}
    schema = infer(pd.DataFrame({"a": over([1, 2]), **ticks}))
    assert schema["Which do you like?_options"].columns == list(ticks)


def test_intervals_and_decimals():
    from decimal import Decimal

    bins = pd.cut(pd.Series(np.arange(N)), 4)
    money = over([Decimal("1.10"), Decimal("2.20"), Decimal("3.5")])
    schema = infer(pd.DataFrame({"bins": bins, "money": money, "whole": over([Decimal(1), Decimal(2), Decimal(3)])}))
    assert schema.questions == [Continuous("money"), Ordinal("whole", [1, 2, 3])]
    assert "Interval" in schema.reasons["bins"]


def test_few_rows_are_enough():
    frame = pd.DataFrame({"id": ["a", "b", "c"], "town": ["Bonn", "Rome", "Oslo"], "age": [30, 41, 65]})
    schema = infer(frame)
    assert schema.questions == [Categorical("town", ["Bonn", "Oslo", "Rome"]), Continuous("age", integer=True)]
    assert schema.ignore == ["id"]


@pytest.mark.parametrize("form", [list, tuple, set])
def test_lists(form):
    frame = pd.DataFrame({"x": [form(cell) for cell in over([["b", "a"], ["c"], []])], "y": over([1, 2])})
    expected = {"column": "x", "separator": None, "values": ["a", "b", "c"]}
    question = Multicategorical("x", **expected)
    assert infer(frame)["x"] == question
    if form is list:
        assert infer(pl.from_pandas(frame))["x"] == question


ONES = {1: [1, 0, 1, 0], 2: [0, 0, 1, 1], 3: [1, 1, 0, 0]}
TICKS = {name: over([tick, None, None, tick, None][name:]) for name, tick in ((1, "x"), (2, "x"), (3, "x"))}
FILMS = ["A new hope", "Empire", "Jedi"]
PERMUTED = list(itertools.permutations([1, 2, 3]))
FIRST_TWO = list(itertools.permutations(["tea", "milk", "beer", "wine"], 2))

# columns, the question, words of the reason
GROUPS = {
    "0/1": (
        {f"q5_{n}": over(ONES[n]) for n in ONES},
        Multicategorical("q5", columns={"q5_1": "q5_1", "q5_2": "q5_2", "q5_3": "q5_3"}),
        "0/1 columns with the shared stem 'q5_'",
    ),
    "options named": (
        {f"hobby: {name}": over(ONES[n]) for n, name in enumerate(["chess", "judo", "go"], 1)},
        Multicategorical("hobby", columns={"chess": "hobby: chess", "judo": "hobby: judo", "go": "hobby: go"}),
        "'hobby: '",
    ),
    "options in brackets": (
        {f"q5 [{name}]": over(ONES[n]) for n, name in enumerate(["chess", "judo", "go"], 1)},
        Multicategorical("q5", columns={"chess": "q5 [chess]", "judo": "q5 [judo]", "go": "q5 [go]"}),
        "'q5 ['",
    ),
    "true and false": (
        {f"q5{name}": over(map(bool, ONES[n])) for n, name in enumerate("abc", 1)},
        Multicategorical("q5", columns={"q5a": "q5a", "q5b": "q5b", "q5c": "q5c"}),
        "'q5'",
    ),
    "nobody chose one": (
        {"q5_1": over(ONES[1]), "q5_2": over([0]), "q5_3": over(ONES[3])},
        Multicategorical("q5", columns={"q5_1": "q5_1", "q5_2": "q5_2", "q5_3": "q5_3"}),
        "0/1",
    ),
    "ticks": (
        {"q5_1": TICKS[1], "q5_2": TICKS[2]},
        Multicategorical("q5", columns={"q5_1": "q5_1", "q5_2": "q5_2"}, ticked="x"),
        "columns that hold 'x' or nothing",
    ),
    "ones or nothing": (
        {f"q5_{n}": [1 if cell else None for cell in TICKS[n]] for n in TICKS},
        Multicategorical("q5", columns={"q5_1": "q5_1", "q5_2": "q5_2", "q5_3": "q5_3"}, ticked=1),
        "columns that hold 1 or nothing",
    ),
    "their number or nothing": (
        {f"q5_{n}": [n if cell else None for cell in TICKS[n]] for n in TICKS},
        Multicategorical(
            "q5", columns={"q5_1": "q5_1", "q5_2": "q5_2", "q5_3": "q5_3"}, ticked={"q5_1": 1, "q5_2": 2, "q5_3": 3}
        ),
        "columns that hold 1, 2, 3 or nothing",
    ),
    "their text or nothing": (
        {f"seen_{n}": [FILMS[n - 1] if cell else None for cell in TICKS[n]] for n in TICKS},
        Multicategorical(
            "seen", columns={f: f"seen_{n}" for n, f in enumerate(FILMS, 1)}, ticked={f: f for f in FILMS}
        ),
        "or nothing",
    ),
    "ranks": (
        {f"film_{n}": over([row[n - 1] for row in PERMUTED]) for n in (1, 2, 3)},
        Ranking("film", ranks={"film_1": "film_1", "film_2": "film_2", "film_3": "film_3"}),
        "ranks 1 to 3",
    ),
    "first and second choice": (
        {name: over([row[place] for row in FIRST_TWO]) for place, name in enumerate(["first_choice", "second_choice"])},
        Ranking("choice", choices=["first_choice", "second_choice"], values=["beer", "milk", "tea", "wine"]),
        "named first, second",
    ),
}


@pytest.mark.parametrize("rule", GROUPS)
def test_group(rule):
    columns, expected, words = GROUPS[rule]
    schema = infer(pd.DataFrame({"a": over([1, 2]), **columns, "z": over([1.5, 2.5, 4])}))
    assert schema.questions == [Binary("a", [1, 2]), expected, Continuous("z")]
    assert words in schema.reasons[expected.name]


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ({f"q5_{n}": over([cell + 1 for cell in ONES[n]]) for n in ONES}, ["binary"] * 3),  # a grid of 1/2
        ({f"q5_{n}": over(ONES[n]) for n in (1, 2)}, ["binary"] * 2),  # two are too few
        ({f"q{n}": over(ONES[n]) for n in ONES}, ["binary"] * 3),  # numbers of questions
        ({f"q5_{n}": over([1, 2, 3, 1 + n % 3]) for n in ONES}, ["ordinal"] * 3),  # a grid of 1 to 3
        ({"q_a": over(ONES[1]), "z": over([1, 2, 3]), "q_b": over(ONES[2]), "q_c": over(ONES[3])}, None),  # apart
        ({f"{nth}_child": over(["boy", "girl", "none"]) for nth in ("first", "second")}, ["categorical"] * 2),
    ],
)
def test_no_group(columns, kinds):
    schema = infer(pd.DataFrame(columns))
    assert schema.names == list(columns)
    assert kinds in (None, [question.kind for question in schema])


def test_a_column_before_the_numbered_ones_stands_alone():
    schema = infer(pd.DataFrame({"q5_any": over([0, 1])} | GROUPS["0/1"][0]))
    assert schema.names == ["q5_any", "q5"]


def test_a_group_takes_a_name_that_is_free():
    schema = infer(pd.DataFrame({"q5": over([1, 2])} | GROUPS["0/1"][0]))
    assert schema.names == ["q5", "q5_options"]


def test_weight():
    weights = over([0.5, 1.25, 2.0])
    schema = infer(pd.DataFrame({"Weight": weights, "wt": weights, "a": over([1, 2])}))
    assert schema.weight == "Weight"
    assert "named like a weight" in schema.reasons["Weight"]
    assert schema.ignore == ["wt"]
    assert "second weight" in schema.reasons["wt"]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("weight", [61.5, 80.2, 74.0]),
        ("weight_kg", [0.5, 1.5, 2.5]),
        ("weight", [0.5, None, 2.5]),
        ("weight", [0.0, 0.0, -1.5]),
    ],
)
def test_no_weight(name, cells):
    assert infer(pd.DataFrame({name: over(cells), "a": over([1, 2])})).weight is None


def test_missing_codes_are_taken_out_and_told():
    frame = pd.DataFrame(
        {"a": over([1, 2, -1]), "b": over([1, 2, 3]), "c": over(["x", "y", "NA?"]), "d": over(["1", "-1", "2"])}
    )
    schema = infer(frame, missing=[-1, "NA?"])
    assert schema.questions == [
        Binary("a", [1, 2], missing=[-1]),
        Ordinal("b", [1, 2, 3]),
        Binary("c", ["x", "y"], missing=["NA?"]),
        Binary("d", ["1", "2"], missing=["-1"]),
    ]


@pytest.mark.parametrize("missing", [[], [-1]])
def test_one_and_minus_one_are_chosen_and_not_chosen_even_where_it_is_said_to_mean_blank(missing):
    frame = pd.DataFrame({f"q5_{n}": over([2 * cell - 1 for cell in ONES[n]]) for n in ONES} | {"y": over([1, 2])})
    schema = infer(frame, missing=missing)
    assert schema.names == ["q5", "y"]
    assert schema["q5"] == Multicategorical("q5", columns={f"q5_{n}": f"q5_{n}" for n in ONES}, ticked=1, unticked=[-1])
    assert "1 and -1 with the shared stem 'q5_': taken for chosen and not chosen" in schema.reasons["q5"]


LEVELS = {1: "low", 2: "mid", 3: "high", 9: "Refused"}
NOTED = {
    "nominal": (over([1, 2, 3]), ColumnNotes(measure="nominal"), Categorical("x", [1, 2, 3]), "the file says nominal"),
    "nominal of two": (over([1, 2]), ColumnNotes(measure="nominal"), Binary("x", [1, 2]), "the file says nominal"),
    "ordinal": (
        over([10, 20, 35]),
        ColumnNotes(measure="ordinal"),
        Ordinal("x", [10, 20, 35]),
        "the file says ordinal",
    ),
    "scale": (over([1, 2, 3]), ColumnNotes(measure="scale"), Continuous("x", integer=True), "the file says scale"),
    "scale with labels": (
        over([1, 2]),
        ColumnNotes("How?", LEVELS, [9], "scale"),
        Ordinal("x", [1, 2, 3], missing=[9], label="How?", labels=LEVELS),
        "each with a label",
    ),
    "labels": (
        over([1, 2, 3]),
        ColumnNotes(labels={1.0: "low", 2.0: "mid", 3.0: "high"}),
        Ordinal("x", [1, 2, 3], labels={1: "low", 2: "mid", 3: "high"}),
        "each with a label",
    ),
    "many labels": (
        over(range(1, 16)),
        ColumnNotes(labels={code: f"land {code}" for code in range(1, 16)}),
        Categorical("x", list(range(1, 16)), labels={code: f"land {code}" for code in range(1, 16)}),
        "15 numbers, each with a label",
    ),
    "labels at the ends": (
        over([2, 3, 4]),
        ColumnNotes(labels={1: "never", 5: "always"}),
        Ordinal("x", [1, 2, 3, 4, 5], labels={1: "never", 5: "always"}),
        "whole numbers",
    ),
    "a label that says refused": (
        over([1, 2, 3, 9]),
        ColumnNotes(labels=LEVELS),
        Ordinal("x", [1, 2, 3, 9], labels=LEVELS),
        "9 looks like 'no answer'",
    ),
    "text codes": (
        over(["m", "f"]),
        ColumnNotes(labels={"m": "man", "f": "woman", "o": "other"}),
        Categorical("x", ["f", "m", "o"], labels={"m": "man", "f": "woman", "o": "other"}),
        "texts, 3 different",
    ),
    "ordinal texts": (
        over(["b", "a", "c"]),
        ColumnNotes(measure="ordinal"),
        Categorical("x", ["a", "b", "c"]),
        "order is not known",
    ),
}


@pytest.mark.parametrize("rule", NOTED)
def test_notes_of_a_column(rule):
    cells, notes, expected, words = NOTED[rule]
    schema = infer(pd.DataFrame({"x": cells}), notes=Notes({"x": notes}))
    assert schema.questions == [expected]
    assert words in schema.reasons["x"]


def test_options_are_named_by_their_labels():
    frame = pd.DataFrame(GROUPS["0/1"][0])
    labels = ["Hobbies: chess", "Hobbies: judo", "Hobbies: go"]
    notes = Notes({name: ColumnNotes(label) for name, label in zip(frame.columns, labels, strict=True)})
    assert infer(frame, notes=notes)["q5"].values == ["chess", "judo", "go"]


def sets(cells, counted):
    """Tell two columns that have no shared stem as one set."""
    frame = pd.DataFrame({"tea": over(cells), "milk": over(cells[::-1]), "z": over([1, 2])})
    return frame, Notes({}, [ChoiceSet("$drinks", ["tea", "milk"], "What do you drink?", counted)])


@pytest.mark.parametrize(
    ("cells", "counted", "ticked"),
    [
        ([0, 1, 1], 1, None),
        ([1, None, 1], 1, 1),
        ([None, 2, 2], 2, 2),
        (["Y", None, "Y"], "Y", "Y"),
        ([1, None, 1], "1", 1),
        ([1, 2, 2], 2, 2),
    ],
)
def test_a_set_of_the_file(cells, counted, ticked):
    frame, notes = sets(cells, counted)
    columns = {"tea": "tea", "milk": "milk"}
    expected = Multicategorical(
        "drinks",
        columns=columns,
        label="What do you drink?",
        ticked=ticked,
        unticked=[1] if 1 in cells and ticked == 2 else [],
    )
    schema = infer(frame, notes=notes)
    assert schema.questions == [expected, Binary("z", [1, 2])]
    assert "the file's set '$drinks'" in schema.reasons["drinks"]


def test_sets_that_stay_apart():
    frame, notes = sets([1, 2, 2], 3)
    schema = infer(frame, notes=notes)
    assert [question.kind for question in schema] == ["binary"] * 3
    assert "set 'drinks' counts the value 3, which its columns do not hold" in schema.reasons["tea"]
    frame, notes = sets([1, 2, 3], None)
    schema = infer(frame, notes=notes)
    assert [question.kind for question in schema] == ["categorical", "categorical", "binary"]
    assert "set 'drinks' holds a chosen option in each column" in schema.reasons["tea"]


MIXED = pd.DataFrame(
    {
        "id": [f"r{n}" for n in range(N)],
        "mood": over(["bad", "splendid", "odd"]),
        "age": over(range(20, 60)),
        "score": over([1, 2, 3]),
        "w": over([0.5, 1.5]),
        "tags": over(["a;b", "b", "c;a"]),
        **GROUPS["0/1"][0],
    }
)


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("mood", "categorical", Categorical("mood", ["bad", "odd", "splendid"])),
        ("mood", Ordinal("mood", ["bad", "odd", "splendid"]), Ordinal("mood", ["bad", "odd", "splendid"])),
        ("mood", "multicategorical", Multicategorical("mood", column="mood", values=["bad", "odd", "splendid"])),
        ("score", "continuous", Continuous("score", integer=True)),
        ("score", "categorical", Categorical("score", [1, 2, 3])),
        ("age", "ordinal", Ordinal("age", list(range(20, 60)))),
        ("w", "ordinal", Ordinal("w", [0.5, 1.5])),
        ("w", "binary", Binary("w", [0.5, 1.5])),
        ("tags", "ranking", Ranking("tags", column="tags", separator=";", values=["a", "b", "c"])),
        ("q5_1", "binary", Binary("q5_1", [0, 1])),
        ("q5", "multicategorical", GROUPS["0/1"][1]),
    ],
)
def test_overrule(name, said, expected: Question):
    schema = infer(MIXED, overrule={name: said})
    assert schema[name] == expected
    assert schema.reasons[name] == "as you said"


def test_overrule_sets_aside_and_weighs():
    schema = infer(MIXED, overrule={"mood": "ignore", "w": "weight", "q5": "ignore"})
    assert schema.ignore == ["id", "mood", "q5_1", "q5_2", "q5_3"]
    assert schema.weight == "w"
    assert schema.names == ["age", "score", "tags"]


def test_overrule_takes_a_group_apart():
    assert infer(MIXED, overrule={"q5": "binary"}).names[-3:] == ["q5_1", "q5_2", "q5_3"]
    assert infer(MIXED, overrule={"q5_2": "binary"}).names[-3:] == ["q5_1", "q5_2", "q5_3"]  # two are too few
    fine = Multicategorical("fine", columns={"a": "q5_1", "b": "q5_3"})
    assert infer(MIXED, overrule={"fine": fine}).names[-2:] == ["fine", "q5_2"]
    assert infer(MIXED, overrule={"q5": fine}).names[-2:] == ["fine", "q5_2"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"agee": "ordinal"}, "overrule 'agee': there is no such column.*did you mean 'age'"),
        ({"age": "ordnal"}, "overrule 'age': 'ordnal' is no kind of question; did you mean 'ordinal'"),
        ({"age": 5}, "overrule 'age': 5 is no kind"),
        ({"age": Continuous("years")}, "no column 'years'"),
        ({"age": Continuous("w")}, "does not read the column 'age'"),
        ({"mood": "ordinal"}, r"overrule 'mood': the column cannot be ordinal.*give Ordinal\('mood', values=\[...\]\)"),
        ({"mood": "continuous"}, "its value 'bad' is no number"),
        ({"mood": "binary"}, "3 different values, not 2"),
        ({"age": "ranking"}, "not texts"),
        ({"w": "weight", "age": "weight"}, "'w' and 'age' are both to be the weight"),
        ({"q5": "weight"}, "3 columns cannot be the weight"),
        ({"all": Multicategorical("all", {"a": "q5_1"}), "q5_1": "binary"}, "another question that you gave"),
    ],
)
def test_overrule_says_what_is_wrong(said, message):
    with pytest.raises(ValueError, match=message):
        Schema.infer(MIXED, overrule=said)


def test_nothing_to_ask():
    with pytest.raises(ValueError, match=r"no column of the table is left to ask.*'a': one value, 1; 'b': no answers"):
        Schema.infer(pd.DataFrame({"a": [1, 1], "b": [None, None]}))
    with pytest.raises(ValueError, match="the table has no rows; give at least one"):
        Schema.infer(pd.DataFrame({"a": []}))


def test_every_library_gives_the_same_schema():
    frame = MIXED.assign(level=ORDERED, yes=over([True, None, False]), some=over([1.0, None, 3.0, 2.0]), none=None)
    frame["tick_1"], frame["tick_2"] = TICKS[1], TICKS[2]
    expected = infer(frame)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    others = {
        "polars": pl.from_pandas(frame.drop(columns="level")).with_columns(
            pl.Series("level", list(map(str, ORDERED)), dtype=pl.Enum(["low", "mid", "top"]))
        ),
        "pyarrow": arrow,
        "pandas with arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "pandas with its own types": frame.convert_dtypes(),
    }
    for library, other in others.items():
        schema = infer(other)
        assert {q.name: q for q in schema} == {q.name: q for q in expected}, library
        assert schema.reasons == expected.reasons, library


def test_printed():
    text = str(infer(MIXED))
    assert "question  kind              values" in text
    assert "why" in text.splitlines()[0]
    assert "q5        multicategorical  'q5_1', 'q5_2', 'q5_3'    0/1 columns with the shared stem 'q5_'" in text
    assert "ignored: id (every text is different, as in ids)" in text


def test_file_and_back(tmp_path):
    frame = MIXED.assign(yes=over([True, False]), level=ORDERED, code=over(["01", "1e3", "null"]), none=None)
    schema = infer(frame)
    schema.to_yaml(tmp_path / "schema.yaml")
    assert Schema.from_yaml(tmp_path / "schema.yaml") == schema


# Any table.

# Characters that end a line, which a file of YAML does not keep, are left out.
characters = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])
names = st.text(characters, max_size=8) | st.sampled_from(
    ["q5_1", "q5_2", "q5_3", "q5_4", "weight", "id", "a: x", "a: y", "first choice", "second choice", "r1", "r2", "r3"]
)
neighbours = st.sampled_from(
    [
        ["q5_1", "q5_2", "q5_3", "q5_4"],
        ["a: x", "a: y", "a: z"],
        ["1st choice", "2nd choice"],
        ["r_1", "r_2", "r_3"],
        ["s1", "weight"],
    ]
)
odd_cells = st.one_of(
    st.none(),
    st.integers(-2, 12),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.sampled_from(
        ["", " ", "1", "1.0", "nan", "inf", "yes", "no", "a;b", "b;a", "a>b", "b>a", "a, b", "Never", "99", "18-29"]
    ),
    st.text(characters, max_size=5),
)
narrow_pools = [
    [0, 1],
    [1, None],
    ["x", None],
    [1, 2, 3],
    [1, 2, 3, None, 99],
    ["a;b", "a", "b;c", "", "x"],
    ["a>b", "b>a", "c>a=b", None],
    [True, False, None],
    ["tea", "milk", "beer", 1],
    ["never", "often", "always", ""],
    [0.5, 1.5, 2.25],
    [-1, 1],
]


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 30))
    columns = {}
    alike = draw(st.none() | st.sampled_from(narrow_pools))
    for name in draw(st.lists(names, min_size=1, max_size=6, unique=True)) if alike is None else draw(neighbours):
        kind = draw(st.sampled_from(["odd", "narrow", "floats", "ints", "one"])) if alike is None else "alike"
        pools = {
            "odd": odd_cells,
            "narrow": st.sampled_from(draw(st.sampled_from(narrow_pools))),
            "floats": st.floats(),
            "ints": st.integers(-(2**63), 2**63 - 1) | st.integers(1, 4),
            "one": st.sampled_from([1, "x", None]),
            "alike": st.sampled_from(alike or [1]),
        }
        cells = draw(st.lists(pools[kind], min_size=n_rows, max_size=n_rows))
        columns[name] = pd.Series(cells, dtype=object if kind in ("odd", "narrow", "one", "alike") else None)
        if draw(st.booleans()):
            columns[name] = columns[name].infer_objects()
    return pd.DataFrame(columns)


@examples(200)
@given(tables(), st.sampled_from([(), (-1,), (99, "x"), (1, None, float("nan"))]), st.randoms(use_true_random=False))
def test_any_table(frame, missing, random):
    """A guess reads the table it came from, comes out the same again, and does not hang on the order of columns."""
    try:
        schema = Schema.infer(frame, missing=missing)
    except ValueError:
        with pytest.raises(ValueError, match="is left to ask"):
            Schema.infer(frame, missing=missing)
        return
    encode(frame, schema.learn(frame))
    assert Schema.infer(frame, missing=missing) == schema
    assert Schema.from_dict(yamltext.load(yamltext.dump(schema.to_dict()).encode())) == schema
    shuffled = list(frame.columns)
    random.shuffle(shuffled)
    try:
        other = Schema.infer(frame[shuffled], missing=missing)
    except ValueError:
        return
    alone = {q.name: q for q in schema if q.columns == [q.name]}
    for question in other:
        assert question.name not in alone or question == alone[question.name]


# ------------------------------------------------------------------------------------------- what a person knows better

NPS = pd.DataFrame({"nps": over(range(11)), "q7": over([1, 2, 3, 99]), "yn": over([1, 2, 9]), "x": over([1.5, 2.5])})


def test_settings_of_one_question_leave_the_others_alone():
    schema = infer(NPS, overrule={"q7": {"missing": [99]}, "yn": {"kind": "categorical", "label": "Yes or no?"}})
    assert schema["q7"] == Ordinal("q7", [1, 2, 3], missing=[99])
    assert schema["yn"] == Categorical("yn", [1, 2, 9], label="Yes or no?")
    assert schema["nps"] == Ordinal("nps", list(range(11)))
    assert schema.reasons["q7"].startswith("as you said; 3 whole numbers")
    with pytest.raises(ValueError, match="question 'q7': unknown setting 'mising'; did you mean 'missing'"):
        infer(NPS, overrule={"q7": {"mising": [99]}})
    with pytest.raises(TypeError, match="overrule must look like"):
        infer(NPS, overrule=["q7"])


def test_a_question_that_is_given_takes_the_codes_for_all():
    schema = infer(NPS, overrule={"q7": Ordinal("q7", [1, 2, 3])}, missing=[99])
    assert schema["q7"] == Ordinal("q7", [1, 2, 3], missing=[99])


def test_advice_says_once_what_is_in_doubt():
    frame = pd.DataFrame({f"item{n}a": over([1, 2, 3, 4, -1]) for n in range(5)})
    schema = infer(frame.assign(q7=over([1, 2, 3, 99])))
    assert schema.advice == [
        "-1 looks like 'no answer' in 5 columns: say missing=[-1]",
        "99 may mean 'no answer': say overrule={'q7': {'missing': [99]}}",
    ]
    assert str(schema).endswith("\n".join(schema.advice))
    within = infer(NPS, missing=[8])
    assert "8 taken as blank, within the other numbers" in within.reasons["nps"]
    assert "8 counts as blank in 'nps': is it no answer?" in within.advice


def test_a_code_that_is_large_and_frequent_is_noticed():
    incomes = [2500 + 137 * n for n in range(N - 6)] + [99999] * 6
    schema = infer(pd.DataFrame({"income": incomes, "a": over([1, 2])}))
    assert schema["income"].kind == "continuous"
    assert "99999 looks like 'no answer'" in schema.reasons["income"]


@pytest.mark.parametrize(
    ("name", "cells", "labels", "kind"),
    [
        ("party", [1, 2, 3], {1: "Red", 2: "Blue", 3: "Green"}, "categorical"),
        ("agree", [1, 2, 3], {1: "disagree", 2: "neither agree nor disagree", 3: "agree"}, "ordinal"),
        ("region", list(range(1, 17)), {}, "categorical"),
        ("state_fips", list(range(1, 40)), {}, "categorical"),
        ("year", [2018, 2020, 2022], {}, "ordinal"),
        ("income", [(7919 * n) % 89_000 for n in range(1, N + 1)], {}, "continuous"),
    ],
)
def test_names_and_labels_tell_kinds(name, cells, labels, kind):
    frame = pd.DataFrame({name: over(cells), "z": over([1.5, 2.5])})
    assert infer(frame, notes=Notes({name: ColumnNotes(labels=labels)}))[name].kind == kind


def test_a_weight_with_blanks_is_set_aside():
    schema = infer(pd.DataFrame({"w": over([0.5, None, 1.5]), "a": over([1, 2])}))
    assert schema.weight is None
    assert schema.reasons["w"] == "named like a weight, but blank in some rows"
    assert infer(pd.DataFrame({"w": over([0.5, 0.0, 1.5]), "a": over([1, 2])})).weight == "w"


def test_a_group_ends_where_the_stem_does():
    schema = infer(pd.DataFrame(GROUPS["0/1"][0] | {"smokes": over([0, 1])}))
    assert schema.names == ["q5", "smokes"]


def test_the_order_of_categories_is_kept():
    cells = pd.Categorical(over(["low", "zero", "high"]), ["zero", "low", "high"], ordered=True)
    assert infer(pd.DataFrame({"x": cells}))["x"].values == ["zero", "low", "high"]


COUNTED = {
    "visits": over([0, 0, 1, 1, 2, 3, 5]),
    "drinks": over([*[0, 1, 2, 4] * 5, 31]),
    "children": over([0.0, None, 2, 1, 5, 1]),
    "texts": over(["0", "1", "1", "12"]),
}
NOT_COUNTED = {
    "ladder": over([0, 7, 8, 9, 10, 7, 8]),
    "agree": over([1, 2, 3, 4, 5]),
    "age": [18 + n % 50 for n in range(N)],
    "yes": over([0, 1]),
    "income": over([0, 1000, 2000, 30_000]),
    "region": over([0, 1, 1, 3, 9]),
    "rate": over([0, 0.5, 1, 4]),
}


def test_counts_are_guessed_only_when_asked_for():
    frame = pd.DataFrame(COUNTED | NOT_COUNTED)
    asked, unasked = infer(frame, counts=True), infer(frame)
    assert {q.name for q in asked if q.kind == "count"} == set(COUNTED)
    assert not any(q.kind == "count" for q in unasked)
    assert all(asked[name] == unasked[name] for name in NOT_COUNTED)
    assert asked.reasons["visits"] == "counts, 0 to 5"


def test_what_a_file_says_of_a_column_goes_before_counts():
    frame = pd.DataFrame(COUNTED)
    notes = {"visits": ColumnNotes(measure="ordinal"), "drinks": ColumnNotes(labels={0: "none", 1: "beer"})}
    kinds = {q.name: q.kind for q in infer(frame, counts=True, notes=Notes(notes))}
    assert (kinds["visits"], kinds["children"]) == ("ordinal", "count")
    assert kinds["drinks"] != "count"


def test_a_column_is_a_count_if_someone_says_so_and_its_cells_allow():
    frame = pd.DataFrame(COUNTED | NOT_COUNTED)
    schema = infer(frame, overrule={"ladder": "count", "agree": {"kind": "count", "high": 9}}, missing=[10])
    assert schema["ladder"] == Count("ladder", missing=[10])
    assert schema["agree"] == Count("agree", high=9)
    for name, words in (("rate", "value 0.5 .row 1. is no count"), ("income", "not at 30000; take larger counts as")):
        with pytest.raises(ValueError, match=f"overrule '{name}': the column cannot be count: .*{words}"):
            infer(frame, overrule={name: "count"})
