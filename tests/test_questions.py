"""Each kind of question: small tables with the codes written out by hand, round trips, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from mvrbm.units import (
    KINDS,
    Binary,
    Categorical,
    Continuous,
    Count,
    Multicategorical,
    Ordinal,
    Question,
    Ranking,
    question_from_dict,
)

NAN = float("nan")
Cells = dict[str, list[Any]]


def column(cells: list[Any]) -> np.ndarray:
    """Cells as a frame would hand them over: numbers as a numeric array, anything else as objects."""
    numeric = all(isinstance(cell, (int, float)) for cell in cells)
    return np.array(cells, dtype=None if numeric else object)


def table(cells: Cells) -> dict[str, np.ndarray]:
    return {name: column(values) for name, values in cells.items()}


SCALE = Ordinal("q", values=["low", "mid", "high"])
TICKS = Multicategorical("q", columns={"Work": "a", "Crime": "b"})
HOBBIES = Multicategorical("q", column="q", values=["chess", "judo", "golf"])
RANKS = Ranking("q", ranks={"I": "a", "II": "b", "III": "c"})
CHOICES = Ranking("q", choices=["a", "b"], values=["w", "x", "y", "z"])
ORDER = Ranking("q", column="q", values=["a", "b", "c"])


def like(question: Question, **changes: Any) -> Question:
    return type(question)(**{**question.settings(), **changes})


# One line a rule: the question, its columns, the codes of each row.
READS: dict[str, tuple[Question, Cells, list[list[float]]]] = {
    "binary: the second value is 1": (
        Binary("q", values=["no", "yes"]),
        {"q": ["yes", "no", None, NAN]},
        [[1], [0], [-1], [-1]],
    ),
    "binary: floats match integers": (Binary("q", values=[1, 2]), {"q": [1.0, 2.0, NAN]}, [[0], [1], [-1]]),
    "binary: booleans": (Binary("q", values=[False, True]), {"q": [True, False]}, [[1], [0]]),
    "categorical": (Categorical("q", values=["b", "a"]), {"q": ["a", "b", None]}, [[1], [0], [-1]]),
    "categorical: mixed texts and numbers": (
        Categorical("q", values=[1, "1", 2.5]),
        {"q": ["1", 1.0, 2.5]},
        [[1], [0], [2]],
    ),
    "ordinal: lowest first": (SCALE, {"q": ["high", "low", "mid"]}, [[2], [0], [1]]),
    "ordinal: missing codes": (
        Ordinal("q", values=[0, 1], missing=[-1, 99]),
        {"q": [0, 99, -1, 1]},
        [[0], [-1], [-1], [1]],
    ),
    "missing codes as texts": (like(SCALE, missing=["DK"]), {"q": ["DK", "mid"]}, [[-1], [1]]),
    "continuous": (Continuous("q"), {"q": [1.5, NAN, -2]}, [[1.5], [NAN], [-2]]),
    "continuous: missing codes, bounds": (
        Continuous("q", low=0, high=9, missing=[99]),
        {"q": [0, 9, 99]},
        [[0], [9], [NAN]],
    ),
    "continuous: numbers in texts": (
        Continuous("q", missing=["refused"]),
        {"q": ["34", "refused", None, "1.5"]},
        [[34], [NAN], [NAN], [1.5]],
    ),
    "counts": (Count("q", high=3), {"q": [0, 3.0, NAN, 1]}, [[0], [3], [-1], [1]]),
    "counts: missing codes, labels, texts": (
        Count("q", high=9, missing=[99], labels={0: "none"}),
        {"q": ["none", "2", 99, None]},
        [[0], [2], [-1], [-1]],
    ),
    "options: 0/1, down to one blank option": (
        TICKS,
        {"a": [1, 0, NAN, 1], "b": [0, 0, NAN, NAN]},
        [[1, 0], [0, 0], [-1, -1], [1, -1]],
    ),
    "options: booleans": (TICKS, {"a": [True, False], "b": [False, False]}, [[1, 0], [0, 0]]),
    "options: ticks, an empty cell is unticked if anything is ticked": (
        like(TICKS, ticked={"Work": "Work", "Crime": "crime!"}),
        {"a": ["Work", None, None], "b": [NAN, NAN, "crime!"]},
        [[1, 0], [-1, -1], [0, 1]],
    ),
    "options: given ticks, the option's name ticks too": (
        like(TICKS, ticked={"Work": 1, "Crime": 1}),
        {"a": [1, NAN, "Work"], "b": [NAN, NAN, 1]},
        [[1, 0], [-1, -1], [1, 1]],
    ),
    "options: ticks, empty rows chose nothing": (
        like(TICKS, empty="none", ticked="Work"),
        {"a": ["Work", None], "b": [None, None]},
        [[1, 0], [0, 0]],
    ),
    'options: empty="none" spares missing codes': (
        like(TICKS, empty="none", missing=[9]),
        {"a": [NAN, 9, 1, 0], "b": [NAN, 9, NAN, 1]},
        [[0, 0], [-1, -1], [1, -1], [0, 1]],
    ),
    'options: empty="blank" makes all 0 unanswered': (
        like(TICKS, empty="blank"),
        {"a": [0, 1, NAN], "b": [0, 0, 0]},
        [[-1, -1], [1, 0], [-1, 0]],
    ),
    "options in a text": (
        HOBBIES,
        {"q": ["judo;chess", " golf ; ", "", None, "judo;judo"]},
        [[1, 1, 0], [0, 0, 1], [0, 0, 0], [-1, -1, -1], [0, 1, 0]],
    ),
    "options in a text: numbers": (
        Multicategorical("q", column="q", separator=",", values=[1, 2]),
        {"q": ["1,2", 2.0, "1"]},
        [[1, 1], [0, 1], [1, 0]],
    ),
    'options in a text: empty="none"': (
        like(HOBBIES, empty="none", missing=["-"]),
        {"q": [None, "", "-"]},
        [[0, 0, 0], [0, 0, 0], [-1, -1, -1]],
    ),
    'options in a text: empty="blank"': (like(HOBBIES, empty="blank"), {"q": ["", "golf"]}, [[-1, -1, -1], [0, 0, 1]]),
    # Pairs: (I, II), (I, III), (II, III).
    "ranks: order, ties, an item without a rank": (
        RANKS,
        {"a": [1, 1, 3, 1, NAN], "b": [2, 1, 2, NAN, 2], "c": [3, 2, 1, 2, NAN]},
        [[0, 0, 0], [1, 0, 0], [2, 2, 2], [-1, 0, -1], [-1, -1, -1]],
    ),
    "ranks: mean ranks and texts": (
        like(RANKS, missing=["-"]),
        {"a": [1.5, "1"], "b": [1.5, "2"], "c": [3, "-"]},
        [[1, 0, 0], [0, -1, -1]],
    ),
    # Pairs: wx, wy, wz, xy, xz, yz.
    "choices: the rest tie last": (
        CHOICES,
        {"a": ["x", "z", "y", None, None], "b": ["w", "y", None, "w", None]},
        [[2, 0, 0, 0, 0, 1], [1, 2, 2, 2, 2, 2], [1, 2, 1, 2, 1, 0], [0, 0, 0, 1, 1, 1], [-1] * 6],
    ),
    "order in a text": (
        ORDER,
        {"q": ["a>b=c", "c>b", "b = a > c", "a", "", None]},
        [[0, 0, 1], [-1, -1, 2], [1, 0, 0], [-1] * 3, [-1] * 3, [-1] * 3],
    ),
}


@pytest.mark.parametrize("rule", READS)
def test_reads(rule: str) -> None:
    question, cells, expected = READS[rule]
    block = question.encode(table(cells))
    assert block.dtype == (np.float32 if question.kind == "continuous" else np.int32)
    assert block.shape[1] == question.n_codes + question.n_numbers
    np.testing.assert_array_equal(block, expected)


@pytest.mark.parametrize("rule", READS)
def test_reading_what_was_written_changes_nothing(rule: str) -> None:
    question, cells, expected = READS[rule]
    learnt = question.learn(table(cells))
    written = learnt.decode(learnt.encode(table(cells)))
    assert list(written) == question.columns
    np.testing.assert_array_equal(learnt.encode(written), expected)


# One line a refusal: the question, its columns, the words of the message.
REFUSALS: list[tuple[Question, Cells, str]] = [
    (
        Ordinal("ladder", values=range(11)),
        {"ladder": [0, 3, 12]},
        "question 'ladder': value 12 (row 2) is not among its 11 values; add it to the schema or set unseen="
        + '"missing"',
    ),
    (Categorical("q", values=["1", "2"]), {"q": [3]}, "value 3 (row 0) is not among its 2 values"),
    (Binary("q", values=["no", "yes"]), {"q": ["no", "Yes"]}, "value 'Yes' (row 1) is not among its 2 values"),
    (Continuous("q", low=0, high=9), {"q": [3, 10.5]}, "value 10.5 (row 1) is outside low=0, high=9"),
    (Continuous("q"), {"q": ["3", "old"]}, "value 'old' (row 1) is not a number"),
    (Continuous("q"), {"q": ["3", "nan"]}, "value 'nan' (row 1) is not a number"),
    (Continuous("q"), {"q": ["1_000"]}, "value '1_000' (row 0) is not a number"),
    (Count("q", high=9), {"q": [3, 10]}, "value 10 (row 1) is above high=9; raise high, list it in missing=[...]"),
    (Count("q", high=9), {"q": [3, -1]}, "value -1 (row 1) is no count (0, 1, 2, ...); correct it"),
    (Count("q", high=9), {"q": [2.5]}, "value 2.5 (row 0) is no count"),
    (Count("q", high=9), {"q": ["3", "some"]}, "value 'some' (row 1) is no count"),
    (Count("q", high=9), {"q": [1, float("inf")]}, "value inf (row 1) is no count"),
    (TICKS, {"a": [1, 0], "b": [0, 2]}, "value 2 (row 1, column 'b') is neither 0 nor 1"),
    (
        like(TICKS, ticked={"Work": "Work", "Crime": "Crime"}),
        {"a": ["Work", None], "b": [0, 0]},
        "value 0 (row 0, column 'b') is not its tick 'Crime'",
    ),
    (like(TICKS, allow_empty=False), {"a": [1, 0], "b": [0, 0]}, "nothing is chosen (row 1), but allow_empty=False"),
    (like(HOBBIES, allow_empty=False), {"q": ["judo", ""]}, "nothing is chosen (row 1), but allow_empty=False"),
    (HOBBIES, {"q": ["judo", None, "judo;ludo"]}, "value 'ludo' (row 2) is not among its 3 values"),
    (Continuous("q", integer=True), {"q": [3, 2.5]}, "value 2.5 (row 1) is no whole number"),
    (RANKS, {"a": [1], "b": [2], "c": [4]}, "value 4 (row 0, column 'c') is no rank from 1 to 3"),
    (RANKS, {"a": [0], "b": [2], "c": [3]}, "value 0 (row 0, column 'a') is no rank from 1 to 3"),
    (RANKS, {"a": ["best"], "b": [2], "c": [3]}, "value 'best' (row 0, column 'a') is no rank"),
    (CHOICES, {"a": ["w", "v"], "b": ["x", None]}, "value 'v' (row 1, column 'a') is not among its 4 values"),
    (ORDER, {"q": ["a>b", "a>d"]}, "value 'd' (row 1) is not among its 3 values"),
]


@pytest.mark.parametrize(("question", "cells", "words"), REFUSALS)
def test_a_wrong_cell_is_refused_or_blank(question: Question, cells: Cells, words: str) -> None:
    with pytest.raises(ValueError) as error:
        question.encode(table(cells))
    assert words in str(error.value)
    assert str(error.value).startswith(f"question {question.name!r}: ")
    assert "; " in str(error.value)
    with pytest.warns(UserWarning, match="not allowed and taken as blank, the first is "):
        block = question.encode(table(cells), unseen="missing")
    assert (np.isnan(block) | (block < 0)).any()


# These contradict themselves, so no setting lets them pass.
HOPELESS: list[tuple[Question, Cells, str]] = [
    (Continuous("q"), {"q": [1, float("inf")]}, "value inf (row 1) is infinite or too large"),
    (Continuous("q"), {"q": [1e300]}, "is infinite or too large"),
    (Continuous("q"), {"q": ["x", 10**400]}, "is infinite or too large"),
    (CHOICES, {"a": ["w", "x"], "b": ["x", "x"]}, "value 'x' (row 1, column 'b') is chosen twice"),
    (ORDER, {"q": ["a>b", "a>b>a"]}, "value 'a' (row 1) is named twice"),
    (Categorical("q"), {"q": ["a"]}, "its values are not known yet; give values=[...] or learn them"),
]


@pytest.mark.parametrize("unseen", ["error", "missing"])
@pytest.mark.parametrize(("question", "cells", "words"), HOPELESS)
def test_a_hopeless_cell_is_always_refused(question: Question, cells: Cells, words: str, unseen: str) -> None:
    with pytest.raises(ValueError) as error:
        question.encode(table(cells), unseen=unseen)
    assert words in str(error.value)


@pytest.mark.filterwarnings("ignore:question")
def test_unseen_parts_are_left_out_and_the_rest_of_the_answer_stays() -> None:
    np.testing.assert_array_equal(
        HOBBIES.encode(table({"q": ["judo;ludo", "ludo"]}), "missing"), [[0, 1, 0], [-1, -1, -1]]
    )
    np.testing.assert_array_equal(ORDER.encode(table({"q": ["a>d>b", "d>a"]}), "missing"), [[0, -1, -1], [-1, -1, -1]])
    with pytest.raises(ValueError, match="unseen must be"):
        SCALE.encode(table({"q": ["low"]}), "ignore")


BAD_SETTINGS: list[tuple[type[Question], dict[str, Any], str]] = [
    (Binary, {"name": ""}, "name must be a text"),
    (Binary, {"name": "q", "values": "yn"}, "values must be a list"),
    (Binary, {"name": "q", "values": [1, 2, 3]}, "a binary question has 2 values, not 3"),
    (Binary, {"name": "q", "missing": {"a": 99}}, "missing must be a list"),
    (Binary, {"name": "q", "asked_if": "yes"}, "asked_if must look like"),
    (Categorical, {"name": "q", "values": []}, "at least 2 values"),
    (Categorical, {"name": "q", "values": ["a", "a"]}, "'a' is listed twice"),
    (Categorical, {"name": "q", "values": [1, 1.0]}, "1 is listed twice"),
    (Categorical, {"name": "q", "values": [1, None]}, "None is neither a text nor a number"),
    (Categorical, {"name": "q", "values": [1, NAN]}, "nan is neither a text nor a number"),
    (Categorical, {"name": "q", "values": [1, 9], "missing": [9]}, "9 is both a value and a missing code"),
    (Ordinal, {"name": "q", "values": ["a"]}, "at least 2 values"),
    (Ordinal, {"name": "q", "basis": "cubic"}, "basis must be one of"),
    (Ordinal, {"name": "q", "dimension": 2}, 'with basis="stereotype"'),
    (Ordinal, {"name": "q", "basis": "stereotype", "dimension": 0}, "dimension must be"),
    (Continuous, {"name": "q", "low": 2, "high": 1}, "low must be below high"),
    (Continuous, {"name": "q", "sigma": -1}, "sigma must be"),
    (Continuous, {"name": "q", "sigma": "large"}, "sigma must be"),
    (Count, {"name": "q", "high": 2.5}, "must end at a whole number from 1 to 2000, not at 2.5"),
    (Count, {"name": "q", "high": 0}, "must end at a whole number from 1 to 2000, not at 0"),
    (Count, {"name": "q", "high": 2001}, "not at 2001; take larger counts as a continuous question"),
    (Count, {"name": "q", "high": 20, "missing": [9]}, "9 is both a value and a missing code"),
    (Multicategorical, {"name": "q"}, "give either columns"),
    (Multicategorical, {"name": "q", "columns": {"A": "a"}, "values": ["A"]}, "leave values=[...] out"),
    (Multicategorical, {"name": "q", "columns": {"A": "a"}, "ticked": {"B": "b"}}, "must name a tick for each option"),
    (Multicategorical, {"name": "q", "column": "q", "empty": "0"}, "empty must be"),
    (Multicategorical, {"name": "q", "columns": ["a"], "ticked": 1, "missing": [1]}, "1 is told to be two of"),
    (Binary, {"name": "q", "missing": [[9]]}, "missing can hold texts and numbers, not [9]"),
    (Binary, {"name": "q", "labels": {(1, 2): "x"}}, "labels can hold texts and numbers, not (1, 2)"),
    (Binary, {"name": "q", "asked_if": {"a": {"b": 1}}}, "asked_if can hold texts and numbers"),
    (Continuous, {"name": "q", "low": 0.2, "high": 0.8, "integer": True}, "no whole number lies between"),
    (Continuous, {"name": "q", "low": 10**400}, "low must be a number of a sensible size"),
    (Multicategorical, {"name": "q", "column": "q", "empty": "none", "allow_empty": False}, "empty must be"),
    (Multicategorical, {"name": "q", "column": "q", "values": ["a;b"]}, "holds ';'; rename it"),
    (Ranking, {"name": "q", "values": ["a", "b"]}, "give one of ranks"),
    (Ranking, {"name": "q", "column": "q", "ranks": {"a": "a"}}, "give one of ranks"),
    (Ranking, {"name": "q", "ranks": {"a": "a", "b": "b"}, "values": ["a", "b"]}, "leave values=[...] out"),
    (Ranking, {"name": "q", "ranks": {"a": "a"}}, "at least 2 values"),
    (Ranking, {"name": "q", "choices": "q10"}, "choices must be a list"),
    (Ranking, {"name": "q", "choices": ["a", "b", "c"], "values": ["x", "y"]}, "must name 1 to 2 columns"),
    (Ranking, {"name": "q", "column": "q", "separator": "="}, "separator must be"),
    (Ranking, {"name": "q", "column": "q", "values": ["a", "b=c"]}, "holds '>' or '='; rename it"),
    (Ranking, {"name": "q", "column": "q", "ties": 0}, "ties must be"),
]


@pytest.mark.parametrize(("kind", "given", "words"), BAD_SETTINGS)
def test_bad_settings_are_refused(kind: type[Question], given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as error:
        kind(**given)
    assert words in str(error.value)


LEARNS: list[tuple[Question, Cells, list[Any]]] = [
    (Binary("q", missing=[9]), {"q": [2.0, 1.0, NAN, 9]}, [1, 2]),
    (Categorical("q"), {"q": ["b", "", "10", "a", None]}, ["10", "a", "b"]),
    (Ordinal("q"), {"q": [3, 1, 2]}, [1, 2, 3]),
    (Count("q"), {"q": [3.0, NAN, 1]}, list(range(11))),  # room for more
    (Count("q", missing=[99]), {"q": ["30", "2", None, "99"]}, list(range(61))),
    (Count("q", missing=[-1, 99]), {"q": [70, 2, 99, -1]}, list(range(99))),  # up to a code that means blank
    (Count("q"), {"q": [0, 1500]}, list(range(2001))),
    (Multicategorical("q", column="q", missing=["-"]), {"q": ["b; a", "", "-", "c;a", None]}, ["a", "b", "c"]),
    (Ranking("q", choices=["a", "b"]), {"a": ["x", "z"], "b": ["y", None]}, ["x", "y", "z"]),
    (Ranking("q", column="q"), {"q": ["b>a=c", None, "d"]}, ["a", "b", "c", "d"]),
]


@pytest.mark.parametrize(("question", "cells", "values"), LEARNS)
def test_values_left_out_are_learnt_sorted(question: Question, cells: Cells, values: list[Any]) -> None:
    learnt = question.learn(table(cells))
    assert learnt.values == values
    assert [type(value) for value in learnt.known_values] == [type(v) for v in values]
    assert question.values is None
    assert learnt.learn(table(cells)) == learnt
    with pytest.raises(ValueError, match="holds no answer to learn its values from"):
        question.learn({name: column([NAN]) for name in cells})


def test_ticks_are_learnt_so_that_another_table_reads_alike() -> None:
    learnt = TICKS.learn(table({"a": ["I work", None], "b": [None, None]}))
    assert learnt.to_dict()["ticked"] == {"Work": "I work", "Crime": "Crime"}
    np.testing.assert_array_equal(learnt.encode(table({"a": [None], "b": ["Crime"]})), [[0, 1]])
    with pytest.raises(ValueError, match=r"value 'no' .* is not its tick 'I work'"):
        learnt.encode(table({"a": ["no"], "b": [None]}))


def test_of_two_texts_none_is_taken_for_the_tick() -> None:
    with pytest.raises(ValueError, match=r"value 'no' \(row 1, column 'a'\) is a text beside 'yes', .*; say ticked="):
        TICKS.learn(table({"a": ["yes", "no"], "b": ["yes", None]}))


def test_what_was_learnt_is_not_learnt_anew_from_another_table() -> None:
    """A row means the same by itself and among others; a text is no tick because a new table has it."""
    learnt = TICKS.learn(table({"a": [0, 1, 1], "b": [1, 0, 1]}))
    for cells in ({"a": ["no"], "b": ["no"]}, {"a": ["0", "maybe"], "b": ["1", None]}):
        with pytest.raises(ValueError, match="is neither 0 nor 1"):
            learnt.encode(table(cells))
    np.testing.assert_array_equal(learnt.encode(table({"a": [1], "b": [NAN]})), [[1, -1]])


def test_a_constant_binary_column_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"every answer is 'yes'; leave it out \(ignore\) or give values="):
        Binary("q").learn(table({"q": ["yes", "yes"]}))


EVERY_SETTING = [
    *(question for question, _, _ in READS.values()),
    Ordinal("q", values=[1, 2], basis="stereotype", dimension=2, missing=[9], asked_if={"seen": ["yes", "maybe"]}),
    Continuous("q", low=0, high=1.5, integer=True, sigma="learn"),
    Count("q", high=12, missing=[99], labels={0: "none"}, asked_if={"seen": "yes"}),
    Ranking("q", choices=["a"], ties=0.5),
]


@pytest.mark.parametrize("question", EVERY_SETTING, ids=repr)
def test_plain_data_and_repr_bring_the_question_back(question: Question) -> None:
    assert question_from_dict(question.to_dict()) == question
    assert eval(repr(question), {kind.__name__: kind for kind in KINDS}) == question
    assert question != like(question, name="other")


def test_unknown_plain_data_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind 'colour'; the kinds are binary, categorical"):
        question_from_dict({"kind": "colour", "name": "q"})
    with pytest.raises(ValueError, match="question 'q': unknown setting 'low'; a binary question takes name, values"):
        question_from_dict({"kind": "binary", "name": "q", "low": 1})


ITEMS = ["a", "b", "c", "d"]
RANKED = {item: f"r_{item}" for item in ITEMS}
TEXTS = st.lists(st.sampled_from(ITEMS), unique=True)
OPTIONAL = {kind: st.none() | cells for kind, cells in {"item": st.sampled_from(ITEMS), "tick": st.just("x")}.items()}


@st.composite
def orders(draw: st.DrawFn) -> str:
    items = draw(st.permutations(ITEMS))[: draw(st.integers(0, len(ITEMS)))]
    return "".join(item + draw(st.sampled_from(">=")) for item in items)[:-1]


@st.composite
def two_choices(draw: st.DrawFn) -> tuple[str | None, str | None]:
    first, second = draw(OPTIONAL["item"]), draw(OPTIONAL["item"])
    return first, None if second == first else second


def rows(*cells: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    return st.lists(st.tuples(*cells), min_size=1, max_size=8)


NUMBER = st.just(NAN) | st.floats(-1e6, 1e6)
FORMS: list[tuple[Question, st.SearchStrategy[Any]]] = [
    (Binary("q", values=["a", "b"]), rows(st.sampled_from(["a", "b", None]))),
    (Categorical("q", values=ITEMS, missing=["-"]), rows(st.sampled_from([*ITEMS, "-", None]))),
    (Ordinal("q", values=[0, 1, 2.5]), rows(st.sampled_from([0.0, 1.0, 2.5, NAN]))),
    (Count("q", high=40, missing=[99]), rows(st.sampled_from([0.0, 7.0, 40.0, 99.0, NAN]))),
    (Continuous("q", low=-1e6, high=1e6), rows(NUMBER)),
    (Continuous("q", low=0.1, high=0.3), rows(st.just(NAN) | st.floats(0.1, 0.3))),
    (Continuous("q", integer=True), rows(st.just(NAN) | st.integers(-(2**24), 2**24))),
    (Multicategorical("q", columns=RANKED), rows(*[st.sampled_from([0, 1, NAN])] * 4)),
    (Multicategorical("q", columns=RANKED, empty="none", missing=[9]), rows(*[st.sampled_from([0, 1, 9, NAN])] * 4)),
    (Multicategorical("q", columns=RANKED, ticked=dict.fromkeys(ITEMS, "x")), rows(*[OPTIONAL["tick"]] * 4)),
    (Multicategorical("q", column="q", values=ITEMS), rows(st.none() | TEXTS.map(";".join))),
    (Multicategorical("q", column="q", values=ITEMS, empty="none"), rows(st.none() | TEXTS.map(";".join))),
    (Ranking("q", ranks=RANKED), rows(*[st.sampled_from([1, 1.5, 2, 3, 4, NAN])] * 4)),
    (Ranking("q", choices=["first", "second"], values=ITEMS), st.lists(two_choices(), min_size=1, max_size=8)),
    (Ranking("q", choices=RANKED.values(), values=ITEMS), st.lists(st.permutations([*ITEMS[:3], None]), min_size=1)),
    (Ranking("q", column="q", values=ITEMS), rows(st.none() | orders())),
]


@pytest.mark.parametrize(("question", "answers"), FORMS, ids=[repr(question) for question, _ in FORMS])
def test_answers_survive_the_round_trip(question: Question, answers: st.SearchStrategy[Any]) -> None:
    @examples(60)
    @given(answers)
    def check(people: list[tuple[Any, ...]]) -> None:
        cells = dict(zip(question.columns, map(list, zip(*people, strict=True)), strict=True))
        block = question.encode(table(cells))
        np.testing.assert_array_equal(question.encode(question.decode(block)), block)

    check()


def test_noughts_and_ones_that_arrive_as_texts_are_no_ticks() -> None:
    question = Multicategorical("q", columns={"W": "w", "C": "c"})
    numbers = {"w": np.array([0, 1]), "c": np.array([0, 0])}
    texts = {"w": np.array(["0", "1"], object), "c": np.array(["false", "False"], object)}
    np.testing.assert_array_equal(question.learn(numbers).encode(texts), question.encode(numbers))
    assert question.learn(texts) == question.learn(numbers)


def test_a_stereotype_has_at_most_as_many_directions_as_levels() -> None:
    with pytest.raises(ValueError, match="at most its 3 values, not 9"):
        Ordinal("q", values=[1, 2, 3], basis="stereotype", dimension=9)


def test_ones_and_nothing_are_ticks() -> None:
    """An export of 1 or an empty cell: beside a 1, empty is "not chosen"; with a 0 anywhere, empty is a blank."""
    question = Multicategorical("q", columns={"W": "w", "C": "c"})
    for one in (1.0, 1, True):
        columns = {"w": np.array([one, None, None, one], object), "c": np.array([None, one, None, one], object)}
        codes = question.learn(columns).encode(columns)
        np.testing.assert_array_equal(codes, [[1, 0], [0, 1], [-1, -1], [1, 1]])
    columns["c"] = np.array([None, 1, None, 0], object)
    np.testing.assert_array_equal(question.learn(columns).encode(columns), [[1, -1], [-1, 1], [-1, -1], [1, 0]])
    whole = {"w": np.array([1, 1]), "c": np.array([1, 1])}  # nothing is empty: no sign of ticks
    assert question.learn(whole).ticked is None


def test_numbers_of_numpy_are_plain_settings() -> None:
    question = Continuous("q", sigma=np.float64(0.5), high=np.inf, missing=[NAN, np.int64(9)])
    assert question == Continuous("q", sigma=0.5, missing=[9])
    assert question_from_dict(question.to_dict()) == question


@pytest.mark.parametrize("values", [{"no", "yes"}, {"no": 0, "yes": 1}, frozenset(["no", "yes"])])
def test_values_have_an_order(values: object) -> None:
    with pytest.raises(ValueError, match="values must be a list such as"):
        Binary("q", values=values)


def test_the_order_of_texts_is_not_guessed() -> None:
    with pytest.raises(
        ValueError, match=r"question 'q': its values are texts.*give values=\[...\] of 'agree', 'disagree'"
    ):
        Ordinal("q").learn({"q": np.array(["disagree", "agree"], object)})


def test_ranks_that_are_no_mapping() -> None:
    with pytest.raises(ValueError, match=r"ranks must look like \{option: column\}, not 'a'"):
        Ranking("q", ranks="a")
    assert Ranking("q", ranks=["a", "b"]) == Ranking("q", ranks={"a": "a", "b": "b"})


def test_a_table_that_has_no_counts_to_learn_says_so() -> None:
    for cells, words in (([0, 0], "every answer is 0; leave it out"), ([1, 5000], "not at 5000; take larger counts")):
        with pytest.raises(ValueError, match=words):
            Count("q").learn({"q": np.array(cells)})


def test_a_skip_rule_can_ask_for_a_count() -> None:
    question = Count("q", high=3)
    assert question.says(np.array([[0], [2], [-1]]), 2).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="a skip rule asks for 4, which is above high=3"):
        question.says(np.array([[0]]), 4)


def test_ranks_are_whole_numbers_where_every_item_has_one():
    question = Ranking("q", ranks={"a": "x", "b": "y"})
    assert question.decode(np.array([[0], [1]]))["x"].dtype.kind == "i"
    assert question.decode(np.array([[0], [-1]]))["x"].dtype.kind == "f"


def test_a_ranking_names_its_items_and_pairs():
    question = Ranking("r", ranks={"a": "1", "b": "2", "c": "3"}, labels={"a": "Apples"})
    assert question.feature_names(3) == ["a", "b", "c"]
    assert question.feature_names(6) == ["a", "b", "c", "a > b", "a > c", "b > c"]  # as predict_proba names them
