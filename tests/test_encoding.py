"""A whole table into answers and back: order of columns, types, blanks, frames of every sort, weights."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from frames import Library
from mvrbm.datasets import make_survey
from mvrbm.encoding import asked, decode, encode, weights
from mvrbm.schema import Schema
from mvrbm.units import Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking

SCHEMA = Schema(
    [
        Continuous("age"),
        Ranking("films", ranks={"I": "f1", "II": "f2", "III": "f3"}),
        Binary("satisfied", values=["no", "yes"]),
        Continuous("income"),
        Multicategorical("problems", columns={"Work": "p1", "Crime": "p2"}),
        Categorical("country", values=["France", "Peru"]),
    ],
    weight="w",
)
FRAME = pd.DataFrame(
    {
        "id": ["x", "y"],
        "country": ["Peru", None],
        "p1": [1, None],
        "p2": [0, None],
        "satisfied": ["no", "yes"],
        "f1": [1, 2],
        "f2": [1, 3],
        "f3": [2, None],
        "income": [None, 10.5],
        "age": [40, 50],
        "w": [0.5, 2],
    },
    index=[7, 7],
)


def test_a_table_by_hand() -> None:
    answers = encode(FRAME, SCHEMA)
    assert answers.codes.dtype == np.uint8
    assert answers.blank == 255
    np.testing.assert_array_equal(answers.codes, [[1, 0, 0, 0, 1, 0, 1], [0, 255, 255, 1, 255, 255, 255]])
    np.testing.assert_array_equal(answers.numbers, np.array([[40, np.nan], [50, 10.5]], dtype=np.float32))


def test_back_to_columns() -> None:
    columns = decode(encode(FRAME, SCHEMA), SCHEMA)
    assert list(columns) == SCHEMA.columns
    assert columns["country"].tolist() == ["Peru", None]
    assert columns["satisfied"].tolist() == ["no", "yes"]
    np.testing.assert_array_equal(columns["f3"], [3, np.nan])
    np.testing.assert_array_equal(columns["p1"], [1, np.nan])
    np.testing.assert_array_equal(columns["income"], [np.nan, 10.5])


def test_a_whole_survey_survives_the_round_trip() -> None:
    frame, schema = make_survey(500, ranking=2, random_state=1)
    answers = encode(frame, schema)
    again = encode(pd.DataFrame(decode(answers, schema)), schema)
    np.testing.assert_array_equal(again.codes, answers.codes)
    np.testing.assert_array_equal(again.numbers, answers.numbers)


@pytest.mark.parametrize(("n", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_many_values_take_a_wider_code(n: int, dtype: type) -> None:
    frame = pd.DataFrame({"q": [*range(n), None]})
    answers = encode(frame, Schema([Categorical("q")]).learn(frame))
    assert answers.codes.dtype == dtype
    np.testing.assert_array_equal(answers.codes[:, 0], [*range(n), answers.blank])


TYPES: list[Any] = ["int64", "float32", "Int64", "Float64", "object", "category", "uint8"]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_of_number_column_reads_alike(dtype: str) -> None:
    frame = pd.DataFrame({"level": pd.Series([1, 2, 3]).astype(dtype), "number": pd.Series([1, 2, 3]).astype(dtype)})
    answers = encode(frame, Schema([Ordinal("level"), Continuous("number")]).learn(frame))
    assert answers.codes[:, 0].tolist() == [0, 1, 2]
    assert answers.numbers[:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "object", "category", "float64"])
def test_every_type_of_blank_number_reads_alike(dtype: str) -> None:
    level = pd.Series([1, None, 3], dtype="float64").astype(dtype)
    frame = pd.DataFrame({"level": level, "number": level})
    answers = encode(frame, Schema([Ordinal("level"), Continuous("number")]).learn(frame))
    assert answers.codes[:, 0].tolist() == [0, 255, 1]
    assert np.isnan(answers.numbers[:, 0]).tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("dtype", ["str", "string", "object", "category"])
def test_every_type_of_text_column_reads_alike(dtype: str) -> None:
    frame = pd.DataFrame({"q": pd.Series(["b", None, "a"]).astype(dtype)})
    assert encode(frame, Schema([Categorical("q")]).learn(frame)).codes[:, 0].tolist() == [1, 255, 0]


def test_booleans_that_may_be_missing() -> None:
    frame = pd.DataFrame({"q": pd.Series([True, None, False], dtype="boolean")})
    schema = Schema([Binary("q")]).learn(frame)
    assert schema["q"].values == [False, True]
    assert encode(frame, schema).codes[:, 0].tolist() == [1, 255, 0]


def test_an_all_blank_column_is_blank() -> None:
    frame = FRAME.assign(country=None, age=np.nan, p1=None, f1=None)
    answers = encode(frame, SCHEMA)
    assert (answers.codes[:, -1] == 255).all()
    assert (answers.codes[:, 4] == 255).all()
    assert np.isnan(answers.numbers[:, 0]).all()


BAD_TABLES: list[tuple[pd.DataFrame, str]] = [
    (FRAME.drop(columns="p2"), "question 'problems': the table has no column 'p2'; it has 'id', 'country'"),
    (FRAME.iloc[:0], "the table has no rows"),
    (pd.concat([FRAME, FRAME[["age"]]], axis=1), "the table has more than one column 'age'"),
    (FRAME.assign(age=[1, np.inf]), "question 'age': value inf (row 1) is infinite"),
    (FRAME.assign(country=["Peru", "Chile"]), "question 'country': value 'Chile' (row 1) is not among its 2 values"),
    (
        FRAME.assign(country=[["Peru"], None]),
        "question 'country': cell ['Peru'] (row 0) is neither a text nor a number",
    ),
    (FRAME.assign(age=pd.Timestamp(0)), "question 'age': column 'age' is of type datetime64"),
]


@pytest.mark.parametrize(("frame", "words"), BAD_TABLES)
def test_bad_tables_are_refused(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(ValueError) as error:
        encode(frame, SCHEMA)
    assert words in str(error.value)


def test_unseen_values_can_be_blank() -> None:
    with pytest.warns(UserWarning, match=r"question 'country': 1 cell not allowed .* the first is 'Chile' \(row 1\)"):
        answers = encode(FRAME.assign(country=["Peru", "Chile"]), SCHEMA, unseen="missing")
    assert answers.codes[:, -1].tolist() == [1, 255]


def test_weights() -> None:
    found = weights(FRAME, SCHEMA)
    assert found is not None
    assert found.dtype == np.float64
    assert found.tolist() == [0.5, 2]
    assert weights(FRAME, Schema([Continuous("age")])) is None


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([1, -2], "weight 'w': value -2 (row 1) is no weight"),
        ([None, 1], "weight 'w': value nan (row 0) is no weight"),
        ([1, np.inf], "weight 'w': value inf (row 1) is no weight"),
        (["1", "heavy"], "weight 'w': value 'heavy' (row 1) is no weight"),
        ([0, 0], "weight 'w': every weight is 0"),
    ],
)
def test_bad_weights_are_refused(cells: list[Any], words: str) -> None:
    with pytest.raises(ValueError) as error:
        weights(FRAME.assign(w=cells), SCHEMA)
    assert words in str(error.value)
    with pytest.raises(ValueError, match="weight 'w': the table has no column 'w'"):
        weights(FRAME.drop(columns="w"), SCHEMA)


def test_a_million_rows_take_no_loop_over_rows() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"text": random.choice(["a", "b", "c"], 10**6), "level": random.integers(0, 11, 10**6)})
    schema = Schema([Categorical("text"), Ordinal("level")]).learn(frame)
    start = time.process_time()
    encode(frame, schema)
    assert time.process_time() - start < 2  # some 0.1 s; a loop over rows would take longer than the bound


# --------------------------------------------------------------------------------------------------- another table


def test_columns_are_matched_by_name_and_others_do_not_matter(library: Library) -> None:
    cells = {name: library.cells(library.frame(FRAME.to_dict("list")), name) for name in FRAME.columns}
    reordered = library.frame({"extra": ["x", "y"], **{name: cells[name] for name in reversed(list(cells))}})
    answers = encode(reordered, SCHEMA)
    np.testing.assert_array_equal(answers.codes, encode(FRAME, SCHEMA).codes)
    np.testing.assert_array_equal(answers.numbers, encode(FRAME, SCHEMA).numbers)


def test_absent_columns_count_as_unanswered_with_a_warning() -> None:
    frame = FRAME.drop(columns=["p2", "country", "age"])
    words = r"the table lacks 'age', 'p2', 'country': taken as unanswered \(questions 'age', 'problems', 'country'\)"
    with pytest.warns(UserWarning, match=words):
        answers = encode(frame, SCHEMA, absent="missing")
    whole = encode(FRAME, SCHEMA)
    blank = np.zeros(answers.codes.shape, bool)
    blank[:, [5, 6]] = True
    np.testing.assert_array_equal(answers.codes, np.where(blank, 255, whole.codes))
    assert np.isnan(answers.numbers[:, 0]).all()
    with pytest.raises(ValueError, match="question 'age': the table has no column 'age'; it has 'id'; rename it"):
        encode(FRAME[["id"]], SCHEMA, absent="missing")


# The values of a question, the cells of a new table, and their codes; None where a cell must be refused.
ARRIVALS: list[tuple[list[Any], list[Any], list[int] | None]] = [
    ([1, 2], [1.0, 2.0, np.nan], [0, 1, 255]),
    ([1, 2], ["1", "2.0", " 2 ", ""], [0, 1, 1, 255]),
    (["1", "2"], [1, 2.0], [0, 1]),
    ([False, True], ["true", "False"], [1, 0]),
    (["true", "false"], [True, False], [0, 1]),
    ([0, 1], [False, True], [0, 1]),
    ([1, "1"], ["1", 1], [1, 0]),  # each matches itself
    ([1, "1", "2"], [2], [2]),
    (["01", "1"], [1], [1]),
    (["01", "02"], [1], None),
    ([1, 2], ["01"], None),
    ([1, 2], ["one"], None),
    ([1.5, 2], ["1.5"], [0]),
    ([10**17, 2], [str(10**17)], [0]),
]


@pytest.mark.parametrize(("values", "cells", "codes"), ARRIVALS)
def test_codes_that_arrive_as_floats_or_texts(values: list[Any], cells: list[Any], codes: list[int] | None) -> None:
    schema = Schema([Categorical("q", values=values)])
    frame = pd.DataFrame({"q": pd.Series(cells, dtype=object)})
    if codes is None:
        with pytest.raises(ValueError, match=r"question 'q': value .* \(row 0\) is not among its 2 values"):
            encode(frame, schema)
    else:
        assert encode(frame, schema).codes[:, 0].tolist() == codes


def test_labels_stand_for_their_values_unless_they_are_ambiguous() -> None:
    question = Categorical("q", values=[1, 2, "three"], labels={1: "low", 2: "three", 9: "refused"}, missing=[9])
    frame = pd.DataFrame({"q": pd.Series(["low", "three", "refused", 9, "2"], dtype=object)})
    assert encode(frame, Schema([question])).codes[:, 0].tolist() == [0, 2, 255, 255, 1]
    twins = Categorical("q", values=[1, 2, 3], labels={1: "same", 2: "same"})
    with pytest.raises(ValueError, match="value 'same'"):
        encode(pd.DataFrame({"q": ["same"]}), Schema([twins]))


def test_a_wrong_value_comes_with_a_hint() -> None:
    schema = Schema([Categorical("q", values=["Strongly agree", "Disagree"])])
    frame = pd.DataFrame({"q": ["Disagree", "strongly agree", "Dissagree", "dunno"]})
    with pytest.raises(ValueError, match=r"'strongly agree' \(row 1\) .*did you mean 'Strongly agree'\?; 2 more rows"):
        encode(frame, schema)
    with pytest.raises(ValueError, match=r"'dunno' \(row 0\) .*; they are 'Strongly agree', 'Disagree'$"):
        encode(frame[3:], schema)


# ------------------------------------------------------------------------------------------------------ skip rules


def test_a_question_never_put_is_told_apart_from_one_not_answered() -> None:
    schema = Schema(
        [
            Multicategorical("why", columns={"fun": "why_fun"}, asked_if={"favourite": ["I", "II"], "age": 30}),
            Binary("seen", values=["no", "yes"]),
            Categorical("favourite", values=["I", "II", "III"], asked_if={"seen": "yes"}),
            Continuous("age"),
            Binary("fun", values=[0, 1], asked_if={"why": "fun"}),
        ]
    )
    frame = pd.DataFrame(
        {
            "seen": ["yes", "no", None, "yes", "yes"],
            "favourite": [None, None, None, "III", "II"],
            "age": [30, 30, 30, 30, 31],
            "why_fun": [1, None, 0, None, None],
            "fun": [None] * 5,
        }
    )
    put = asked(encode(frame, schema), schema)
    assert list(put) == schema.names
    assert put["seen"].all()
    # put to those who saw one; who did not say might have been asked
    assert put["favourite"].tolist() == [True, False, True, True, True]
    # a blank before is no answer that rules it out, an answer that does not fit is
    assert put["why"].tolist() == [True, False, True, False, False]
    assert put["fun"].tolist() == [True, False, False, False, False]
