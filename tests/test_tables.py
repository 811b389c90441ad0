"""Tables of every library: what is read, what is written back, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from frames import Library
from mvrbm.cells import factorize
from mvrbm.encoding import decode, encode
from mvrbm.schema import Schema
from mvrbm.tables import Table
from mvrbm.units import Binary, Categorical, Continuous, Count, Multicategorical, Ordinal, Question, Ranking

# ----------------------------------------------------------------------------------------------- whole round trips

ITEMS = ["a", "b", "c", "d"]
BY_ITEM = {item: f"r_{item}" for item in ITEMS}
SUBSETS = st.lists(st.booleans(), min_size=4, max_size=4).map(
    lambda ticks: [item for item, tick in zip(ITEMS, ticks, strict=True) if tick]
)


@st.composite
def weak_orders(draw: st.DrawFn) -> list[int | None]:
    """Competition ranks (1, 1, 3) of some of the items; one item alone is compared with nothing."""
    places = draw(st.lists(st.none() | st.integers(1, 4), min_size=4, max_size=4))
    ranked = [place for place in places if place is not None]
    if len(ranked) < 2:
        return [None] * 4
    return [None if place is None else 1 + sum(other < place for other in ranked) for place in places]


def order_text(ranks: list[int | None]) -> str | None:
    places = sorted({rank for rank in ranks if rank is not None})
    groups = ["=".join(item for item, r in zip(ITEMS, ranks, strict=True) if r == place) for place in places]
    return ">".join(groups) or None


def choices(n: int) -> st.SearchStrategy[list[str | None]]:
    return st.tuples(st.permutations(ITEMS), st.integers(0, n)).map(lambda t: [*t[0][: t[1]], *[None] * (n - t[1])])


def one(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return cells.map(lambda cell: [cell])


TICKS = SUBSETS.map(lambda chosen: ["x" if item in chosen else None for item in ITEMS])
ZERO_ONE = st.lists(st.sampled_from([0, 1, None]), min_size=4, max_size=4)
FLOAT32 = st.floats(-1e6, 1e6, width=32)
# Every form of every type: the question, a first row that shows each column's type, and the rows that may follow.
FORMS: dict[str, tuple[Question, list[Any], st.SearchStrategy[list[Any]]]] = {
    "binary texts": (Binary("q", ["no", "yes"]), ["yes"], one(st.sampled_from(["no", "yes", None]))),
    "binary booleans": (Binary("q", [False, True]), [True], one(st.sampled_from([False, True, None]))),
    "binary codes": (Binary("q", [1, 2]), [1], one(st.sampled_from([1, 2, None]))),
    "binary codes told as texts": (Binary("q", ["1", "2"]), [2], one(st.sampled_from([1, 2, None]))),
    "categorical texts": (Categorical("q", ITEMS), ["b"], one(st.sampled_from([*ITEMS, None]))),
    "categorical codes as texts": (Categorical("q", [1, 2, 3]), ["2"], one(st.sampled_from(["1", "2", "3", None]))),
    "categorical labels": (
        Categorical("q", [1, 2, 3], labels={1: "low", 2: "mid", 3: "high"}),
        ["mid"],
        one(st.sampled_from(["low", "mid", "high", None])),
    ),
    "ordinal codes": (Ordinal("q", [0, 1, 2, 3]), [3], one(st.sampled_from([0, 1, 2, 3, None]))),
    "ordinal halves": (Ordinal("q", [0, 0.5, 1]), [0.5], one(st.sampled_from([0.0, 0.5, 1.0, None]))),
    "numbers": (Continuous("q"), [0.5], one(st.none() | FLOAT32)),
    "whole numbers": (Continuous("q", integer=True), [7], one(st.none() | st.integers(-(2**24), 2**24))),
    "bounded numbers": (Continuous("q", low=0, high=1), [0.25], one(st.none() | st.floats(0, 1, width=32))),
    "counts": (Count("q", high=12), [3], one(st.none() | st.integers(0, 12))),
    "counts as texts": (Count("q", high=12), ["3"], one(st.none() | st.integers(0, 12).map(str))),
    "options 0/1": (Multicategorical("q", BY_ITEM), [0, 1, 0, 1], ZERO_ONE),
    "options yes/no": (
        Multicategorical("q", BY_ITEM, ticked="yes", unticked=["no"]),
        ["yes", "no", "no", "no"],
        st.lists(st.sampled_from(["yes", "no", None]), min_size=4, max_size=4),
    ),
    "options 1/2": (
        Multicategorical("q", BY_ITEM, ticked=1, unticked=[2]),
        [1, 2, 2, 2],
        st.lists(st.sampled_from([1, 2, None]), min_size=4, max_size=4),
    ),
    "options ticked": (Multicategorical("q", BY_ITEM, ticked="x"), ["x"] * 4, TICKS),
    "options in a text": (
        Multicategorical("q", column="q", values=ITEMS),
        ["a;c"],
        one(st.none() | SUBSETS.map(";".join)),
    ),
    "options in a list": (
        Multicategorical("q", column="q", values=ITEMS, separator=None),
        [["b"]],
        one(st.none() | SUBSETS),
    ),
    "ranks": (Ranking("q", ranks=BY_ITEM), [1, 2, 3, 4], weak_orders()),
    "two choices": (Ranking("q", choices=["first", "second"], values=ITEMS), ["a", "b"], choices(2)),
    "an order in a text": (Ranking("q", column="q", values=ITEMS), ["a>b=d"], one(weak_orders().map(order_text))),
}


def test_every_type_has_a_form() -> None:
    from mvrbm.units import KINDS

    assert {type(question) for question, _, _ in FORMS.values()} == set(KINDS)


@pytest.mark.parametrize("form", FORMS)
def test_encode_and_decode_give_the_table_back(form: str, library: Library) -> None:
    question, first, row = FORMS[form]

    @examples(25)
    @given(st.lists(row, max_size=6))
    def check(rest: list[list[Any]]) -> None:
        columns = dict(zip(question.columns, map(list, zip(first, *rest, strict=True)), strict=True))
        frame = library.frame({"id": list(range(len(rest) + 1)), **columns})
        schema = Schema([question])
        answers = encode(frame, schema)
        back = Table(frame).written(decode(answers, schema, like=frame))
        assert type(back) is library.kind
        assert library.types(back) == library.types(frame)
        for column in ["id", *columns]:
            assert library.cells(back, column) == library.cells(frame, column), column

    check()


# ------------------------------------------------------------------------------------------------ reading and writing

MIXED: dict[str, list[Any]] = {
    "age": [30, None, 41],
    "income": [1.5, 2.5, None],
    "country": ["Peru", None, "Chad"],
    "glad": [True, None, False],
}


def test_cells_are_read_alike(library: Library) -> None:
    schema = Schema([Continuous("age"), Continuous("income"), Categorical("country"), Binary("glad")])
    frame = library.frame(MIXED)
    learnt = schema.learn(frame)
    assert learnt["country"].values == ["Chad", "Peru"]
    assert learnt["glad"].values == [False, True]
    answers = encode(frame, learnt)
    np.testing.assert_array_equal(answers.codes, [[1, 1], [255, 255], [0, 0]])
    np.testing.assert_array_equal(answers.numbers, np.array([[30, 1.5], [np.nan, 2.5], [41, np.nan]], np.float32))


def test_only_the_cells_asked_for_are_written(library: Library) -> None:
    frame = library.frame({**MIXED, "note": ["x", "y", None]})
    table = Table(frame)
    where = {"age": [False, True, False], "country": [False, True, False], "income": [False, False, True]}
    written = table.written(
        {
            "age": np.array([1.0, 2.0, 3.0]),
            "country": np.array(["Fiji"] * 3, object),
            "income": np.array([9.0, 9.0, 0.1]),
        },
        {name: np.array(rows) for name, rows in where.items()},
    )
    assert library.cells(written, "age") == [30, 2, 41]
    assert library.cells(written, "country") == ["Peru", "Fiji", "Chad"]
    assert library.cells(written, "income") == [1.5, 2.5, 0.1]
    for column in ("glad", "note"):
        assert library.cells(written, column) == library.cells(frame, column)
    assert library.types(written) == library.types(frame)
    assert Table(written).names == Table(frame).names
    assert library.cells(frame, "age") == [30, None, 41], "the table that was given is as it was"


def test_a_type_that_cannot_hold_a_value_gives_way(library: Library) -> None:
    frame = library.frame({"n": [1, 2], "t": ["a", "b"]})
    written = Table(frame).written({"n": np.array([1.5, 2.0])})
    assert library.cells(written, "n") == [1.5, 2]
    written = Table(frame).written({"n": np.array([1.0, np.nan]), "t": np.array([3, None], object)})
    assert library.cells(written, "n") == [1, None]
    assert library.cells(written, "t") == ["3", None]


def test_new_columns_come_last(library: Library) -> None:
    frame = library.frame({"b": [1, 2]})
    written = Table(frame).written({"a": np.array(["x", None], object), "c": np.array([0.5, np.nan])})
    assert Table(written).names == ["b", "a", "c"]
    assert library.cells(written, "a") == ["x", None]
    assert library.cells(written, "c") == [0.5, None]


CATEGORIES: Mapping[str, Any] = {
    "pandas": lambda: pd.DataFrame({"q": pd.Categorical(["lo", None, "hi"], ["lo", "mid", "hi"], ordered=True)}),
    "pandas numbers": lambda: pd.DataFrame({"q": pd.Categorical([3, None, 1], [3, 2, 1])}),
    "polars enum": lambda: pl.DataFrame({"q": pl.Series(["lo", None, "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))}),
    "polars categorical": lambda: pl.DataFrame({"q": pl.Series(["lo", None, "hi"], dtype=pl.Categorical)}),
    "pyarrow": lambda: pa.table({"q": pa.array(["lo", None, "hi"]).dictionary_encode()}),
    "pandas of pyarrow": lambda: pd.DataFrame(
        {
            "q": pd.Series(
                pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(["lo", None, "hi"]).dictionary_encode()]))
            )
        }
    ),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_keep_their_order_and_take_new_values(name: str) -> None:
    frame = CATEGORIES[name]()
    values = [1, 2, 3] if name == "pandas numbers" else ["lo", "mid", "hi"]
    schema = Schema([Ordinal("q", values)])
    answers = encode(frame, schema)
    assert answers.codes[1, 0] == 255
    back = Table(frame).written(decode(answers, schema, like=frame))
    assert str(back["q"]) == str(frame["q"])
    where = {"q": np.array([False, True, False])}
    filled = Table(frame).written({"q": np.array([None, "new" if name != "pandas numbers" else 7, None])}, where)
    cells = filled["q"].to_pylist() if isinstance(filled, pa.Table) else list(filled["q"])
    assert cells == [*cells[:1], "new" if name != "pandas numbers" else 7, *cells[2:]]
    assert [cells[0], cells[2]] == ([3, 1] if name == "pandas numbers" else ["lo", "hi"])


def test_pandas_keeps_its_index_and_attributes() -> None:
    frame = pd.DataFrame({"q": ["a", None], 7: [1.0, 2.0]}, index=pd.Index(["x", "x"], name="person"))
    frame.attrs["source"] = "a survey"
    where = {"q": np.array([False, True])}
    written = Table(frame).written({"q": np.array(["b", "b"], object)}, where)
    pd.testing.assert_index_equal(written.index, frame.index)
    assert list(written.columns) == ["q", 7]
    assert written.attrs == frame.attrs
    assert Table(frame).cells("7").tolist() == [1, 2]


@pytest.mark.parametrize("holder", [set, frozenset, tuple, list])
def test_sets_in_cells_come_back_as_sets(holder: Any) -> None:
    frame = pd.DataFrame({"q": [holder(["b", "a"]), None, holder([])]})
    schema = Schema([Multicategorical("q", column="q")]).learn(frame)
    assert schema["q"].to_dict()["separator"] is None
    answers = encode(frame, schema)
    np.testing.assert_array_equal(answers.codes, [[1, 1], [255, 255], [0, 0]])
    back = Table(frame).written(decode(answers, schema, like=frame))
    assert [type(cell) for cell in back["q"]] == [holder, type(None), holder]
    assert set(back["q"][0]) == {"a", "b"}


def test_arrays_are_tables_with_numbered_columns() -> None:
    table = Table(np.array([[1.0, 2.0], [3.0, np.nan]]))
    assert table.names == ["0", "1"]
    assert table.all_numbers
    with pytest.raises(ValueError, match="two dimensions"):
        Table(np.zeros(3))


NO_TABLES: list[tuple[Any, type[Exception], str]] = [
    (pl.LazyFrame({"a": [1]}), TypeError, "LazyFrame is no table that can be read; collect() it first"),
    ({"a": [1]}, TypeError, "dict is no table that can be read; give a table of pandas, Polars or PyArrow"),
    (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "more than one column 'a'; rename one of them"),
    (pd.DataFrame([[1, 2]], columns=["1", 1]), ValueError, "more than one column '1'; rename one of them"),
    (pa.table([[1], [2]], names=["a", "a"]), ValueError, "more than one column 'a'; rename one of them"),
]


@pytest.mark.parametrize(("data", "error", "words"), NO_TABLES)
def test_what_is_no_table_is_refused(data: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        Table(data)
    assert words in str(raised.value)


def test_a_column_that_is_not_there(library: Library) -> None:
    table = Table(library.frame({"Age ": [1], "country": ["Peru"]}))
    with pytest.raises(ValueError, match=r"question 'age': the table has no column 'age'; did you mean 'Age '\?"):
        table.cells("age", "question 'age'")
    with pytest.raises(ValueError, match="the table has no column 'zebra'; it has 'Age ', 'country'; rename it"):
        table.cells("zebra")


def test_dates_are_refused_by_name(library: Library) -> None:
    import datetime

    table = Table(library.frame({"when": [datetime.datetime(2020, 1, 1)]}))
    with pytest.raises(ValueError, match=r"question 'when': column 'when' is of type .*; turn it into numbers"):
        table.cells("when", "question 'when'")


def test_nan_of_arrow_is_a_blank() -> None:
    frame = pl.DataFrame({"q": [1.0, float("nan"), None, 2.0], "n": [1.0, float("nan"), None, 2.0]})
    answers = encode(frame, Schema([Ordinal("q", [1, 2]), Continuous("n")]))
    assert answers.codes[:, 0].tolist() == [0, 255, 255, 1]
    assert np.isnan(answers.numbers[:, 0]).tolist() == [False, True, True, False]


def test_texts_of_python_stay_so() -> None:
    frame = pd.DataFrame({"q": pd.Series(["a", None, "b", pd.NA], dtype=object)})
    written = Table(frame).written({"q": np.array(["b"] * 4, object)}, {"q": np.array([False, False, True, False])})
    assert written["q"].dtype == object
    assert written["q"].tolist() == ["a", None, "b", pd.NA]


def test_categories_of_several_kinds() -> None:
    frame = pd.DataFrame({"q": pd.Categorical(["1", 1, "1"], ["1", 1])})
    schema = Schema([Categorical("q", ["1", 1])])
    assert Table(frame).written(decode(encode(frame, schema), schema, like=frame))["q"].tolist() == ["1", 1, "1"]


ODD_ARROW = {
    "dictionary of numbers": pa.array([1, 2, None]).dictionary_encode(),
    "a dictionary with a value twice": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array([1, 2, 1])),
    "short numbers": pa.array([1, 2, None], pa.uint8()),
    "views": pa.array(["1", "2", None], pa.string_view()),
    "long lists": pa.array([["1"], ["1", "2"], None], pa.large_list(pa.string())),
    "nothing": pa.nulls(3),
}


@pytest.mark.parametrize("name", ODD_ARROW)
def test_odd_types_of_arrow(name: str) -> None:
    frame = pa.table({"q": ODD_ARROW[name]})
    lists = Multicategorical("q", column="q", separator=None, values=["1", "2"])
    schema = Schema([lists if name == "long lists" else Categorical("q", [1, 2])])
    written = Table(frame).written(decode(encode(frame, schema), schema, like=frame))
    assert written["q"].to_pylist() == frame["q"].to_pylist()
    assert written["q"].type == frame["q"].type


def test_a_blank_list_hides_what_it_covers() -> None:
    cells = pa.ListArray.from_arrays([0, 2, 3, 4], pa.array(["a", "b", "a", "b"]), mask=pa.array([False, True, False]))
    schema = Schema([Multicategorical("q", column="q", separator=None, values=["a", "b"])])
    assert encode(pa.table({"q": cells}), schema).codes.tolist() == [[1, 1], [255, 255], [0, 1]]


@pytest.mark.parametrize("blank", [None, np.nan, pd.NA])
def test_lists_after_a_blank(blank: Any) -> None:
    frame = pd.DataFrame({"q": pd.Series([blank, ["a"], blank, ["b", "a"]], dtype=object)})
    schema = Schema([Multicategorical("q", column="q")]).learn(frame)
    assert encode(frame, schema).codes.tolist() == [[255, 255], [1, 0], [255, 255], [1, 1]]


@pytest.mark.parametrize("column", [pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), pa.array([{"a": 1}])])
def test_records_in_cells_are_refused(column: Any) -> None:
    for question in (Multicategorical("q", column="q", separator=None, values=["a", "b"]), Categorical("q", [1, 2])):
        with pytest.raises(ValueError, match=r"question 'q': cell .* \(row 0\) is neither a text nor a number; recode"):
            encode(pa.table({"q": column}), Schema([question]))


def test_numbers_that_a_type_cannot_hold(library: Library) -> None:
    frame = library.frame({"q": [1, 2]})
    small = {"pandas": lambda f: f.astype("uint8"), "pandas-arrow": lambda f: f.astype("uint8[pyarrow]")}
    small |= {"polars": lambda f: f.cast(pl.UInt8), "pyarrow": lambda f: f.cast(pa.schema({"q": pa.uint8()}))}
    written = Table(small[library.name](frame)).written({"q": np.array([-3.0, 300.0])}, {"q": np.array([True, False])})
    assert library.cells(written, "q") == [-3, 2]


def test_a_second_choice_without_a_first_is_left_alone() -> None:
    schema = Schema([Ranking("r", choices=["c1", "c2"], values=["a", "b", "c"])])
    frame = pd.DataFrame({"c1": [None, "b"], "c2": ["a", None]}, dtype=object)
    written = Table(frame).written(decode(encode(frame, schema), schema, like=frame))
    assert written.to_dict("list") == {"c1": [None, "b"], "c2": ["a", None]}
    encode(written, schema)


@pytest.mark.parametrize(
    "cells",
    [
        np.array([1.5, np.nan, 2.0, 1.5], np.float32),
        np.array([3, 1, 3], np.uint8),
        np.array([True, False]),
        np.array(["b", None, 1, 1.0, np.nan, "b", pd.NA, pd.NaT, ("a", 1)], dtype=object),
        pd.array(["b", None, "a", "b"], dtype="str"),
        pd.array([2, None, 1], dtype="Int64"),
        pd.Categorical(["b", None, "a"], categories=["c", "a", "b"]),
        pd.array([1.0, None, 2.5], dtype="double[pyarrow]"),
        pd.array(["b", None], dtype="string[pyarrow]"),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_a_few_cells_are_counted_like_many(cells: Any) -> None:
    """Few are counted in Python and many by pandas: the same cells again and again have the same values and places."""
    many = pd.concat([pd.Series(cells, dtype=cells.dtype)] * 40, ignore_index=True)
    places, found = factorize(cells)
    many_places, many_found = factorize(many.array if hasattr(cells, "_formatter") else many.to_numpy())
    assert found == many_found
    assert list(map(type, found)) == list(map(type, many_found))
    assert many_places.tolist() == places.tolist() * 40
