"""Bad input: one clear sentence that names the column, the value, the first row and the way out; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from frames import Library
from mvrbm import (
    MVRBM,
    Binary,
    Categorical,
    Continuous,
    Multicategorical,
    Ordinal,
    Ranking,
    Schema,
    read_table,
    write_table,
)

GOOD: dict[str, list[Any]] = {
    "glad": ["no", "yes", "no", "yes"],
    "country": ["Peru", "Chad", "Peru", "Fiji"],
    "age": [30, 41, 52, 63],
    "q5_1": [1, 0, 0, 1],
    "q5_2": [0, 0, 1, 1],
    "rank_1": [1, 2, 3, 1],
    "rank_2": [2, 1, 1, 1],
    "rank_3": [3, 3, 2, 3],
    "first": ["war", "debt", "war", "flood"],
    "second": ["debt", "war", "flood", None],
    "w": [1.0, 2.0, 0.5, 1.0],
}
QUESTIONS = [
    Binary("glad", values=["no", "yes"]),
    Categorical("country"),
    Continuous("age"),
    Multicategorical("problems", columns={"Work": "q5_1", "Crime": "q5_2"}),
    Ranking("films", ranks={"I": "rank_1", "II": "rank_2", "III": "rank_3"}),
    Ranking("dangers", choices=["first", "second"], values=["war", "debt", "flood"]),
]


def fit(frame: Any, questions: list[Any] | None = None, **settings: Any) -> MVRBM:
    schema = Schema(questions or QUESTIONS, **{"weight": "w", **settings})
    return MVRBM(2, schema=schema, max_epochs=1, random_state=0).fit(frame)


def test_the_good_table_is_good(library: Library) -> None:
    assert fit(library.frame(GOOD)).transform(library.frame(GOOD)).shape == (4, 2)


# What is wrong in the table, and the words of the sentence: where, what, which row, the way out.
CELLS: dict[str, tuple[dict[str, list[Any]], list[str]]] = {
    "a rank outside 1..M": (
        {"rank_2": [2, 4, 1, 1]},
        ["question 'films'", "value 4 (row 1, column 'rank_2')", "no rank from 1 to 3", "correct it"],
    ),
    "a rank of 0": ({"rank_2": [2, 1, 0, 1]}, ["value 0 (row 2, column 'rank_2')", "no rank from 1 to 3"]),
    "the same item twice": (
        {"second": ["debt", "debt", "flood", None]},
        ["question 'dangers'", "value 'debt' (row 1, column 'second')", "chosen twice", "blank one of the two"],
    ),
    "an indicator that is none": (
        {"q5_2": [0, 0, 7, 1]},
        ["question 'problems'", "value 7 (row 2, column 'q5_2')", "neither 0 nor 1", "recode it"],
    ),
    "an indicator of yes and no": (
        {"q5_2": ["yes", "no", "yes", None]},
        ["question 'problems'", "value 'no' (row 1, column 'q5_2')", "ticked="],
    ),
    "a single-valued question": (
        {"country": ["Peru", None, "Peru", "Peru"]},
        ["question 'country'", "every answer is 'Peru'", "leave it out"],
    ),
    "no answer at all": (
        {"country": [None] * 4},
        ["question 'country'", "no answer to learn its values from", "leave it out"],
    ),
    "infinity": ({"age": [30.0, 41.0, float("inf"), 52.0]}, ["question 'age'", "value inf (row 2)", "correct it"]),
    "a negative weight": ({"w": [1.0, -1.0, 1.0, 1.0]}, ["weight 'w'", "value -1 (row 1)", "leave the row out"]),
    "a missing weight": ({"w": [1.0, 1.0, None, 1.0]}, ["weight 'w'", "(row 2)", "leave the row out"]),
    "an infinite weight": ({"w": [1.0, 1.0, float("inf"), 1.0]}, ["weight 'w'", "value inf (row 2)"]),
    "a value that is not listed": (
        {"glad": ["no", "yes", "Yes", "yes"]},
        ["question 'glad'", "value 'Yes' (row 2)", "not among its 2 values", "did you mean 'yes'?"],
    ),
    "a text where numbers are": (
        {"age": ["30", "41", "old", "52"]},
        ["question 'age'", "value 'old' (row 2)", "not a number", "missing=[...]"],
    ),
}


@pytest.mark.parametrize("fault", CELLS)
def test_a_bad_cell(fault: str, library: Library) -> None:
    changes, words = CELLS[fault]
    frame = library.frame({**GOOD, **changes})
    before = {name: library.cells(frame, name) for name in GOOD}
    with pytest.raises(ValueError) as error:
        fit(frame)
    _one_sentence(str(error.value), words)
    assert {name: library.cells(frame, name) for name in GOOD} == before


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_a_number_that_never_varies_is_taken_and_said(recipe: str, library: Library) -> None:
    """It is what hiding answers can leave of a number that seldom varies, and no reason to end what was begun."""
    frame = library.frame({**GOOD, "age": [30, None, 30, 30]})
    model = MVRBM(2, schema=Schema(QUESTIONS), max_epochs=1, random_state=0, recipe=recipe)
    with pytest.warns(UserWarning, match=r"question 'age': every answer is 30, which tells nothing of other questions"):
        model.fit(frame)
    near = 1.0 if recipe == "paper" else 0.01  # the paper's sigma is 1, whatever the number
    for filled in (model.complete(frame), *(model.complete(frame, draws=5, random_state=0) if near < 1 else ())):
        assert library.cells(filled, "age") == pytest.approx([30, 30, 30, 30], abs=near)


def _one_sentence(said: str, words: list[str]) -> None:
    assert "\n" not in said
    for word in words:
        assert word in said, said


def _good(**changes: Any) -> pd.DataFrame:
    return pd.DataFrame({**GOOD, **changes})


# Faults of a whole table or schema: what is done, and the words of the sentence.
TABLES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "duplicate columns": (
        lambda: fit(pd.concat([_good(), _good()[["age"]]], axis=1)),
        ["more than one column 'age'", "rename one"],
    ),
    "a column in two questions": (
        lambda: Schema([*QUESTIONS, Binary("q5_1")]),
        ["question 'q5_1'", "column 'q5_1' is already read by question 'problems'", "belongs to one question"],
    ),
    "mixed types in a column": (
        lambda: fit(_good(country=["Peru", 7, "Peru", "Fiji"])),
        ["question 'country'", "value 'Peru' (row 0)", "text beside numbers such as 7", "recode it"],
    ),
    "a cell that holds a table": (
        lambda: fit(_good(country=["Peru", {"a": 1}, "Peru", "Fiji"])),
        ["question 'country'", "cell {'a': 1} (row 1)", "recode it"],
    ),
    "an empty table": (lambda: fit(_good().iloc[:0]), ["the table has no rows", "give at least one"]),
    "a schema naming absent columns": (
        lambda: fit(_good().rename(columns={"country": "Country"})),
        ["question 'country'", "no column 'country'", "did you mean 'Country'?", "edit the schema"],
    ),
    "an absent weight": (lambda: fit(_good().drop(columns="w")), ["weight 'w'", "no column 'w'"]),
    "texts on a scale without an order": (
        lambda: fit(_good(), [Ordinal("country")]),
        ["question 'country'", "texts, whose order a table does not tell", "values=[...]"],
    ),
    "no table": (lambda: fit(GOOD), ["dict is no table", "give a table of pandas, Polars or PyArrow"]),
}


@pytest.mark.parametrize("fault", TABLES)
def test_a_bad_table(fault: str) -> None:
    act, words = TABLES[fault]
    with pytest.raises((ValueError, TypeError)) as error:
        act()
    _one_sentence(str(error.value), words)


ENDINGS = [".csv", ".csv.gz", ".parquet", ".feather", ".sav", ".dta"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("damage", ["truncated", "noise", "empty"])
def test_a_broken_file(ending: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / f"survey{ending}"
    write_table(_good(note=["a quoted, text"] * 4), path)
    whole = path.read_bytes()
    if ending == ".csv" and damage == "truncated":
        whole = whole[: len(whole) // 2].rstrip(b"\n") + b',"'
    broken = {"truncated": whole[: len(whole) // 2], "noise": b"\x00\xff\x01 not a table" * 40, "empty": b""}[damage]
    path.write_bytes(whole if (ending, damage) == (".csv", "truncated") else broken)
    with pytest.raises(ValueError) as error:
        read_table(path)
    _one_sentence(str(error.value), [str(path)])


def test_no_file_and_no_such_kind(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"absent\.csv"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(ValueError, match=r"survey\.xls.*\.csv.*\.parquet"):
        read_table(tmp_path / "survey.xls")
    with pytest.raises(ValueError, match=r"survey\.xls.*\.csv.*\.parquet"):
        write_table(_good(), tmp_path / "survey.xls")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "survey.sav"
    write_table(_good(), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="column 'q'"):
        write_table(pd.DataFrame({"q": [{"a": 1}]}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
