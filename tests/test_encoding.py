"""A whole table into answers and back: order of columns, types, blanks, frames of every sort, weights."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mvrbm.datasets import make_survey
from mvrbm.encoding import decode, encode, weights
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
    (pd.concat([FRAME, FRAME[["age"]]], axis=1), "question 'age': the table has more than one column 'age'"),
    (FRAME.assign(age=[1, np.inf]), "question 'age': value inf (row 1) is infinite"),
    (FRAME.assign(country=["Peru", "Chile"]), "question 'country': value 'Chile' (row 1) is not among its 2 values"),
    (FRAME.assign(country=[["Peru"], None]), "cell ['Peru'] (row 0) is neither a text nor a number"),
    (FRAME.assign(age=pd.Timestamp(0)), "question 'age': column 'age' is of type datetime64"),
]


@pytest.mark.parametrize(("frame", "words"), BAD_TABLES)
def test_bad_tables_are_refused(frame: pd.DataFrame, words: str) -> None:
    with pytest.raises(ValueError) as error:
        encode(frame, SCHEMA)
    assert words in str(error.value)


def test_unseen_values_can_be_blank() -> None:
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
