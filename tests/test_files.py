"""Files: what is written comes back, what is broken is refused in one sentence, what a file cannot hold is told."""

from __future__ import annotations

import gzip
import io
import math
import re
import struct
import tempfile
import warnings
from datetime import date, time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from examples import examples
from mvrbm import infer
from mvrbm.encoding import decode, encode
from mvrbm.files import read_notes, read_table, sav, write_table
from mvrbm.notes import ChoiceSet, ColumnNotes, Notes
from mvrbm.schema import Schema
from mvrbm.tables import Table
from mvrbm.units import Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking
from mvrbm.whole import written_whole

# That a schema goes beside a small file is said each time; it is looked at where it is the point.
pytestmark = pytest.mark.filterwarnings("ignore:.* alone does not tell")
ENDINGS = [".csv", ".csv.gz", ".tsv", ".TSV.gz", ".parquet", ".feather", ".arrow", ".sav", ".zsav", ".dta"]
FRAME = pd.DataFrame(
    {
        "age": [30, 41, 27],
        "income": [1.5, np.nan, -2.25],
        "children": pd.array([1, None, 0], dtype="Int64"),
        "town": pd.Series(["Łódź", None, 'a "b", c\nd;e'], dtype="str"),
    }
)


def back(data: Any, ending: str, folder: Path) -> pd.DataFrame:
    assert write_table(data, folder / f"t{ending}") == [folder / f"t{ending}"]
    return read_notes(folder / f"t{ending}")[0]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_comes_back(ending: str, tmp_path: Path) -> None:
    once = back(FRAME, ending, tmp_path)
    assert_frame_equal(once, FRAME)
    assert_frame_equal(back(once, ending, tmp_path), FRAME)
    assert [path.name for path in tmp_path.iterdir()] == [f"t{ending}"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame.convert_dtypes()])
def test_tables_of_other_libraries(ending: str, library: Any, tmp_path: Path) -> None:
    found = back(library(FRAME), ending, tmp_path)
    for name in FRAME:
        assert [None if pd.isna(cell) else cell for cell in found[name]] == [
            None if pd.isna(cell) else cell for cell in FRAME[name]
        ]


def test_names_of_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"t.xlsx: the ending says no kind of table; it must be one of .csv, .csv.gz"):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(ValueError, match="the ending says no kind of table"):
        write_table(FRAME, str(tmp_path / ".csv"))
    with pytest.raises(FileNotFoundError, match=r"t.csv does not exist; check the name and the folder"):
        read_table(str(tmp_path / "t.csv"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path / "folder.csv")
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist; make it first"):
        write_table(FRAME, tmp_path / "nowhere" / "t.csv")


# CSV


def csv(text: str | bytes, folder: Path, name: str = "t.csv") -> pd.DataFrame:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_notes(folder / name)[0]


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        (["1", "-2", "0"], "int64", [1, -2, 0]),
        (["1", "", "NA"], "Int64", [1, None, None]),
        (["1", '""', "3"], "Int64", [1, None, 3]),
        (["9223372036854775807", "1"], "int64", [2**63 - 1, 1]),
        (["9223372036854775808", "1"], "str", ["9223372036854775808", "1"]),
        (["1.50", "2", "-0.25"], "float64", [1.5, 2.0, -0.25]),
        (["1.5", "12345678901234567"], "str", ["1.5", "12345678901234567"]),
        (["0.10000000000000001", "1e-07", "1E+16", "inf", "nan"], "float64", [0.1, 1e-7, 1e16, math.inf, None]),
        (["007", "8"], "str", ["007", "8"]),
        (["+1", "2"], "str", ["+1", "2"]),
        (["1e5", "2"], "str", ["1e5", "2"]),
        (["-0", "2"], "str", ["-0", "2"]),
        (["007.5", "8"], "str", ["007.5", "8"]),
        (["1_000", "2"], "str", ["1_000", "2"]),
        (["1,5".join('""'), "2"], "str", ["1,5", "2"]),
        (["true", "false"], "bool", [True, False]),
        (["TRUE", "N/A", '""'], "boolean", [True, None, None]),
        (["True", "false"], "str", ["True", "false"]),
        (["None", '""', "null", '"NA"'], "str", ["None", "", None, "NA"]),
        (["<NA>", "#N/A", "NULL", "NaN"], "float64", [None] * 4),
        (['""', '""'], "str", ["", ""]),
        ([" 1", "2 "], "str", [" 1", "2 "]),
    ],
)
def test_a_column_of_a_csv_gets_a_type_only_if_nothing_is_lost(
    cells: list[str], dtype: str, values: list[Any], tmp_path: Path
) -> None:
    found = csv("a,b\n" + "".join(f"{cell},x\n" for cell in cells), tmp_path)["a"]
    assert found.dtype == dtype
    assert [None if pd.isna(cell) else cell for cell in found] == values


def test_signs_between_cells_and_encodings(tmp_path: Path) -> None:
    expected = pd.DataFrame({"a": [1, 2], "b c": pd.Series(["é", "x,y"], dtype="str")})
    assert_frame_equal(csv("\ufeffa;b c\r\n1;é\r\n2;x,y\r\n", tmp_path), expected)
    assert_frame_equal(csv("a\tb c\n1\té\n2\tx,y", tmp_path), expected)
    assert_frame_equal(csv("a\tb c\n1\té\n2\tx,y", tmp_path, "t.tsv"), expected)
    assert_frame_equal(csv('\n\n"a","b c"\n1,é\n\n2,"x,y"\n\n', tmp_path), expected)
    assert_frame_equal(csv(gzip.compress('a,b c\n1,é\n2,"x,y"'.encode()), tmp_path, "t.csv.gz"), expected)
    assert list(csv('size 5",b;c\n1,2\n', tmp_path)) == ['size 5"', "b;c"]
    assert list(csv('"a\n,""b""";c\n1;2\n', tmp_path)) == ['a\n,"b"', "c"]
    with pytest.warns(UserWarning, match=r"t.csv: it is not UTF-8 \(line 2\) and was read as Windows-1252"):
        assert_frame_equal(csv('a,b c\n1,é\n2,"x,y"'.encode("cp1252"), tmp_path), expected)
    with pytest.warns(UserWarning, match="read as Latin-1"):
        assert csv(b"a\n\x81\n", tmp_path)["a"].tolist() == ["\x81"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b\n1,2\n\n3\n4,5", r"a row has 1 cells, but the header names 2 columns \(line 4\)"),
        ('a,b\n"x\ny",2\n3,4,5\n', r"a row has 3 cells, but the header names 2 columns \(line 4\)"),
        ('a,b\n1,2\n"3,4\n5,6\n', r"a row has 1 cells, but the header names 2 columns \(line 3\)"),
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("a,b\n", "it has names of columns but no rows"),
        ("a,b\n1,\0", r"it holds NUL bytes \(line 2\)"),
    ],
)
def test_a_broken_csv_is_refused(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"t.csv: cannot be read as CSV: {why}"):
        csv(text, tmp_path)


def test_other_faults_of_a_csv(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"t.csv: the table has more than one column 'x'; rename one of them"):
        csv("x,y,x\n1,2,3\n", tmp_path)
    for raw in (gzip.compress(b"a,b\n1,2\n")[:-10], b"a,b\n1,2\n"):
        with pytest.raises(ValueError, match=r"t.csv.gz: cannot be read as CSV: its compression is broken or cut off"):
            csv(raw, tmp_path, "t.csv.gz")
    lists = pd.DataFrame({"a": [1, 2, 3], "b": [None, ["x", "y"], ["z"]]})
    for data, row in ((lists, 1), (pl.DataFrame({"b": [["x"], ["y"]]}), 0)):
        with pytest.raises(
            ValueError, match=rf"column 'b' \(row {row}\) holds a list; a CSV cannot, so write .parquet"
        ):
            write_table(data, tmp_path / "l.csv")
    with pytest.raises(ValueError, match=r"column 'b' \(row 0\) holds b'x', which is neither a text nor a number"):
        write_table(pd.DataFrame({"b": [b"x"]}), tmp_path / "l.csv")
    assert not (tmp_path / "l.csv").exists()


def test_what_a_csv_looks_like(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "t": ["NA", "", None, "None", 'q"', "007"],
            "f": [1.0, 1e16, np.nan, 0.0, -0.0, 2.5],
            "b": pd.array([True, None, False, None, True, True], dtype="boolean"),
            "i": pd.array([1, None, 2, 3, 4, 5], dtype="Int64"),
        }
    )
    write_table(frame, tmp_path / "t.csv")
    lines = [
        "t,f,b,i",
        '"NA",1.0,True,1',
        '"",1e+16,,',
        ",,False,2",
        "None,0.0,,3",
        '"q""",-0.0,True,4',
        "007,2.5,True,5",
    ]
    assert (tmp_path / "t.csv").read_text().splitlines() == lines
    write_table(frame[["i"]], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines() == ["i", "1", "NA", "2", "3", "4", "5"]
    write_table(
        pd.DataFrame({"c": pd.Categorical(["x", None]), "d": pd.to_datetime(["2020-01-02", None])}), tmp_path / "t.csv"
    )
    assert (tmp_path / "t.csv").read_text().splitlines() == ["c,d", "x,2020-01-02 00:00:00", ","]


def test_line_ends_within_cells(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "a": pd.array([None if row % 7 == 0 else row % 5 for row in range(99_999)], dtype="Int64"),
            "b": pd.Series([f"row\n{row}\r\n" for row in range(99_999)], dtype="str"),
        }
    )
    assert_frame_equal(back(frame, ".csv", tmp_path), frame)


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    [
        "NA",
        "",
        " ",
        "007",
        "True",
        "1",
        "nan",
        "null",
        '"',
        '""',
        "\r\n",
        "a,b",
        "a;b",
        "\ufeff",
        "inf",
        "-0",
        "1e5",
        "\x85",
    ]
)
VALUES = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=True),
    "bool": st.booleans(),
    "str": TEXTS | st.none(),
}


@st.composite
def frames(draw: Any) -> pd.DataFrame:
    rows = draw(st.integers(2, 6))
    frame = {}
    for name in draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True)):
        dtype = draw(st.sampled_from(list(VALUES)))
        cells = draw(st.lists(VALUES[dtype], min_size=rows, max_size=rows))
        if dtype == "str":  # texts that all look like numbers would come back as numbers
            cells[draw(st.integers(0, rows - 1))] = "text"
        if dtype in ("int64", "bool") and draw(st.booleans()):
            dtype = {"int64": "Int64", "bool": "boolean"}[dtype]
            cells[draw(st.integers(0, rows - 1))] = None
        frame[name] = pd.Series(cells, dtype=dtype)
    return pd.DataFrame(frame)


@given(frames(), st.sampled_from([".csv", ".tsv", ".csv.gz"]))
@examples(300)
def test_any_table_comes_back_from_a_csv(frame: pd.DataFrame, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = back(frame, ending, Path(folder))
    assert_frame_equal(found, frame, check_exact=True)
    for name in frame.select_dtypes("float"):
        told = ~frame[name].isna()
        assert (np.signbit(found[name][told]) == np.signbit(frame[name][told])).all()


# Parquet and Feather


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow"])
def test_types_come_back_from_parquet_and_feather(ending: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["low", None, "high"], ["low", "middle", "high"], ordered=True),
            "i": pd.array([1, None, 3], dtype="Int16"),
            "l": [["a", "b"], None, []],
            "b": pd.array([True, None, False], dtype="boolean"),
            "d": pd.to_datetime(["2020-01-02", None, "2021-02-03"]),
            "2020": [1.5, 2.5, 3.5],
        },
        index=pd.Index([7, 8, 9], name="person"),
    )
    found = back(frame.rename(columns={"2020": 2020}), ending, tmp_path)
    assert_frame_equal(found, frame)
    assert found["l"].tolist() == [["a", "b"], None, []]
    polars = pl.DataFrame({"i": [1, None], "b": [None, True], "l": [["a"], None], "w": [1, 2]})
    found = back(polars, ending, tmp_path)
    assert list(map(str, found.dtypes)) == ["Int64", "boolean", "object", "int64"]
    assert found["l"].tolist() == [["a"], None]


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".sav", ".zsav", ".dta"])
def test_a_broken_file_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    write_table(pd.concat([FRAME] * 50), path)
    raw = path.read_bytes()
    for broken in (raw[: len(raw) // 2], raw[:100], b"", b"hello" * 100):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=rf"t{ending}: cannot be read as \w+: .*; it may be cut off"):
            read_notes(path)


def test_a_column_of_mixed_types_is_named(tmp_path: Path) -> None:
    mixed = pd.DataFrame({"a": [1, 2], "b": [1, "x"]})
    with pytest.raises(ValueError, match=r"column 'b' mixes types .*; make its cells all texts or all numbers"):
        write_table(mixed, tmp_path / "t.parquet")
    for ending, kind in ((".sav", "SPSS"), (".dta", "Stata")):
        data = mixed.replace({"b": {"x": "xx"}})
        with pytest.raises(
            ValueError, match=rf"column 'b' holds 'xx' \(row 1\) beside 1 \(row 0\), which {kind} cannot"
        ):
            write_table(data, tmp_path / f"t{ending}")
        with pytest.raises(ValueError, match=rf"column 'b' holds \['x'\] \(row 0\), which {kind} cannot; turn"):
            write_table(pd.DataFrame({"b": [["x"], ["y"]]}), tmp_path / f"t{ending}")
        with pytest.raises(ValueError, match=rf"column 'b' is of type .*, which {kind} cannot hold; turn"):
            write_table(pl.DataFrame({"b": [["x"], ["y"]]}), tmp_path / f"t{ending}")
    assert not list(tmp_path.iterdir())


def test_a_second_line_of_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = ["id,Age,Which have you seen?,,Rank them,,", ",Response,Film I,Film II,Film I,Film II,Film III"]
    path.write_text("\n".join([*lines, *["1,30,Film I,,1,3,2", "2,41,,Film II,2,1,3", "3,52,Film I,,3,2,1"] * 9]))
    with pytest.warns(UserWarning, match=r"second line of names, such as 'Which have you seen\?: Film I'"):
        frame, found = read_table(path)
    assert len(frame) == 27
    seen, rank = "Which have you seen?: Film I", "Rank them: Film II"
    assert list(frame.columns[:3]) == ["id", "Age", seen]
    assert found["Which have you seen?"].columns == [seen, f"{seen}I"]
    assert found["Rank them"].values == ["Film I", "Film II", "Film III"]
    assert rank in found["Rank them"].columns
    # a column without a name, or a first person without an id, is no second line of names
    for text in ("id,note,\n1,a,b\n2,c,d\n", "id,n,\n,1,2\n2,3,4\n", ",a\n0,x\n"):
        path.write_text(text)
        assert len(read_notes(path)[0]) == text.count("\n") - 1


def test_three_lines_of_names_as_one_service_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    ids = ",".join('"{""ImportId"":""QID' + str(n) + '""}"' for n in (1, 2))
    path.write_text(f'Q1,Q2\n"Do you own a car?","How old are you,\nin years?"\n{ids}\n' + "Yes,30\nNo,41\n" * 15)
    with pytest.warns(UserWarning, match="its second and third line were read as labels and ids"):
        frame, found = read_table(path)
    assert frame["Q2"].tolist() == [30, 41] * 15
    assert found["Q1"] == Binary("Q1", ["No", "Yes"], label="Do you own a car?")
    assert found["Q2"].label == "How old are you,\nin years?"


def test_decimal_commas_and_a_line_that_says_the_sign(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for first in ("", "sep=;\r\n"):
        path.write_text(first + "n;t\r\n1,5;a,b\r\n-2,25;c\r\n;d\r\n")
        frame = read_notes(path)[0]
        assert_frame_equal(frame, pd.DataFrame({"n": [1.5, -2.25, np.nan], "t": ["a,b", "c", "d"]}))
    path.write_text('n,t\n"1,5",a\n')  # here a comma stands between cells
    assert read_notes(path)[0]["n"].tolist() == ["1,5"]


def test_texts_that_would_become_one_number_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for text, cells in (("1.1\n1.10\n", ["1.1", "1.10"]), ("1.5e400\n2.5\n", ["1.5e400", "2.5"])):
        path.write_text(f"q\n{text}")
        assert read_notes(path)[0]["q"].tolist() == cells
    path.write_text("q\n0.0\n-0.0\n")
    assert read_notes(path)[0]["q"].tolist() == [0.0, -0.0]
    path.write_text("q,r\n" + "x" * 200_000 + ",1\n")
    assert len(read_notes(path)[0]["q"][0]) == 200_000


def test_a_link_and_a_long_name(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("a\n1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    write_table(pd.DataFrame({"a": [2]}), tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "a\n2\n"
    write_table(pd.DataFrame({"a": [2]}), tmp_path / ("My survey v1." + "x" * 200 + ".csv"))


def test_writing_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("before")

    def stopped() -> None:
        with written_whole(path) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="the path must be the name of a file, not DataFrame"):
        read_table(FRAME)
    with pytest.raises(TypeError, match="the path must be the name of a file, not DataFrame"):
        write_table(str(tmp_path / "t.csv"), FRAME)
    with pytest.raises(ValueError, match=r"read Excel with pandas\.read_excel and guess with Schema\.infer"):
        read_table(tmp_path / "t.xlsx")


# SPSS and Stata

CODED = pd.DataFrame(
    {
        "sex": [1, 2, 9],
        "agrees": pd.array([1, 3, None], dtype="Int64"),
        "income": [10.5, -99.0, 12.25],
        "town": pd.Series(["A", "DK", None], dtype="str"),
        "codes": [1, 2, 97],
    }
)
QUESTIONS = [
    Binary("sex", values=[1, 2], missing=[9], label="Sex of the person", labels={1: "man", 2: "wömän", 9: "refused"}),
    Ordinal("agrees", values=[1, 2, 3], label="Agrees?", labels={1: "no", 2: "so so", 3: "yes"}),
    Continuous("income", missing=[-99], label="Income"),
    Categorical("town", missing=["DK"], labels={"A": "Aachen", "B": "Bonn", "C": "Cork", "DK": "does not know"}),
    Categorical("codes", missing=[95, 96, 97, 98, -1]),
]


def test_an_spss_file_holds_labels_codes_and_measures(tmp_path: Path) -> None:
    path = tmp_path / "t.sav"
    assert write_table(CODED, path, Schema(QUESTIONS[:4]))[0] == path
    expected = {
        "sex": ColumnNotes("Sex of the person", {1: "man", 2: "wömän", 9: "refused"}, [9], "nominal"),
        "agrees": ColumnNotes("Agrees?", {1: "no", 2: "so so", 3: "yes"}, [], "ordinal"),
        "income": ColumnNotes("Income", {}, [-99], "scale"),
        "town": ColumnNotes("", {"A": "Aachen", "B": "Bonn", "C": "Cork", "DK": "does not know"}, ["DK"], "nominal"),
        "codes": ColumnNotes(),
    }
    for _ in range(2):
        found, notes = read_notes(path)
        assert_frame_equal(found, CODED)
        assert notes == Notes(expected)
        write_table(found, path, Schema(QUESTIONS[:4]))


def test_what_a_file_holds_needs_no_schema_beside_it(tmp_path: Path) -> None:
    frame = pd.concat([CODED.assign(income=[10.5 + n, -99.0, 12.25 - n]) for n in range(20)], ignore_index=True)
    frame["town"] = pd.Series(["A", "DK", None, "B", "C"] * 12, dtype="str")
    frame["age"] = pd.array([*range(20, 50), *range(40, 69), None], dtype="Int64")
    given = Schema([*QUESTIONS[:3], QUESTIONS[3].learn({"town": frame["town"].array}), Continuous("age", integer=True)])
    for ending in (".sav", ".dta"):
        path = tmp_path / f"t{ending}"
        data, whole = (
            (frame[["age"]], Schema([given["age"]]))
            if ending == ".dta"
            else (
                frame.drop(columns="codes"),
                given,
            )
        )
        assert write_table(data, path, whole) == [path]
        found, told = read_table(path)
        assert_frame_equal(found, data.reset_index(drop=True))
        assert {question.name: question for question in told} == {question.name: question for question in whole}


def test_missing_codes_of_spss(tmp_path: Path) -> None:
    path = tmp_path / "t.sav"
    frame = CODED[["codes"]]
    with pytest.warns(UserWarning, match="t.sav alone does not tell kind of 'codes', values of 'codes'; the whole"):
        write_table(frame, path, Schema(QUESTIONS[4:]))  # two values are left, which looks like a binary question
    assert read_notes(path)[1].columns["codes"] == ColumnNotes("", {}, [-1, 95, 96, 97, 98], "nominal")
    for codes in ([1, 3, 5, 7], [1, 2, 3, 5, 7], ["x"], list(range(-200, 0))):
        with pytest.warns(UserWarning, match=r"t.sav alone does not tell .*missing of 'codes'"):
            write_table(frame, path, Schema([Continuous("codes", missing=codes)]))
        assert read_notes(path)[1].columns["codes"].missing == []
        assert read_table(path)[1]["codes"].missing == codes
    pyreadstat.write_sav(
        pd.DataFrame({"a": [1.0, -5, 2.5], "b": [1.0, 250, 3], "c": [1.5, 2, 3]}),
        path,
        missing_ranges={
            "a": [{"lo": -math.inf, "hi": 0}],
            "b": [{"lo": 200, "hi": 400}, 3],
            "c": [{"lo": 1.5, "hi": 4}],
        },
        variable_value_labels={"a": {-8.0: "refused"}, "b": {300.0: "unknown"}},
    )
    missing = {name: note.missing for name, note in read_notes(path)[1].columns.items()}
    assert missing == {"a": [-8, -5], "b": [3, 250, 300], "c": [1.5, 2, 3, 4]}


def test_a_stata_file_holds_labels_and_letters(tmp_path: Path) -> None:
    path = tmp_path / "t.dta"
    frame = pd.DataFrame(
        {
            "sex": pd.Series([1, 2, "a", None], dtype=object),
            "wage": pd.Series([1.5, "b", 3, "z"], dtype=object),
            "none": pd.Series(["c", None, "c", None], dtype=object),
            "text": pd.Series(["a", "b", None, "long" * 1000], dtype="str"),
        }
    )
    questions = [
        Binary("sex", values=[1, 2], missing=["a", "b"], label="Sex", labels={1: "man", 2: "woman", "b": "unknown"}),
        Continuous("wage", missing=["b", "z"], label="Wage"),
        Continuous("none", missing=["c"], labels={"c": "not asked"}),
    ]
    expected = {
        "sex": ColumnNotes("Sex", {1: "man", 2: "woman", "b": "unknown"}, ["a", "b"]),
        "wage": ColumnNotes("Wage", {}, ["b", "z"]),
        "none": ColumnNotes("", {"c": "not asked"}, ["c"]),
        "text": ColumnNotes(),
    }
    for _ in range(2):
        with pytest.warns(
            UserWarning, match=r"t.dta alone does not tell kind of 'wage', 'none', .*; the whole schema is in"
        ):
            assert write_table(frame, path, Schema(questions)) == [path, tmp_path / "t.schema.yaml"]
        frame_read, notes = read_notes(path)
        assert_frame_equal(frame_read, frame)
        assert notes == Notes(expected)
        frame = frame_read
    write_table(frame.drop(columns="none"), path)
    assert_frame_equal(read_notes(path)[0], frame.drop(columns="none"))
    with pytest.warns(UserWarning, match="alone does not tell kind of 'a'"):
        write_table(pd.DataFrame({"a": [1, 99]}), path, Schema([Continuous("a", missing=[99])]))


def test_what_a_file_cannot_hold_goes_beside_it(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30.5, 41.25], "scale": ["lo", "hi"], "q1": [0, 1], "q2": [1, 1], "w": [1.5, 2.5]})
    whole = Schema(
        [
            Continuous("age", low=0, label="x" * 300, asked_if={"scale": "lo"}),
            Ordinal("scale", values=["hi", "lo"], labels={"lo": "y" * 200}),
            Multicategorical("q", columns={"Work": "q1", "Crime": "q2"}, label="Problems"),
        ],
        ignore=["id"],
    )
    line = (
        "t.sav alone does not tell kind of 'age', 'scale', 'q', low of 'age', asked_if of 'age', label of 'age', "
        "values of 'age', labels of 'scale', the columns to ignore, the weight; the whole schema is in t.schema.yaml"
    )
    with pytest.warns(UserWarning, match="alone does not tell") as said:
        assert write_table(frame, tmp_path / "t.sav", whole) == [tmp_path / "t.sav", tmp_path / "t.schema.yaml"]
    assert [str(warning.message) for warning in said] == [line]
    assert (tmp_path / "t.schema.yaml").read_text().startswith(f"# {line}\nquestions:\n")
    assert read_table(str(tmp_path / "t.sav"))[1] == whole
    notes = read_notes(tmp_path / "t.sav")[1].columns
    assert notes["q1"] == ColumnNotes("Work", measure="nominal")
    assert notes["age"].label == "x" * 255
    # an older schema beside the file would be read instead of what the file says
    held = Schema([Continuous("age"), Binary("q1", values=[0, 1])])
    write_table(frame, tmp_path / "t.sav", held)
    assert read_table(tmp_path / "t.sav")[1] == held
    before = (tmp_path / "t.schema.yaml").read_text()
    assert write_table(frame, tmp_path / "t.sav") == [tmp_path / "t.sav"]
    assert (tmp_path / "t.schema.yaml").read_text() == before
    with pytest.warns(
        UserWarning, match=r"^u.sav alone does not tell .*the columns to ignore; the whole schema is in u.schema.yaml$"
    ):
        write_table(frame, tmp_path / "u.sav", Schema([Continuous("age")], weight="w"))


def test_codes_take_the_type_of_their_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"b": [True, False], "t": ["1", "2"], "f": [1, 2], "d": [date(2020, 1, 2), date(2021, 1, 2)]})
    questions = [
        Binary("b", values=[False, True], labels={True: "yes", False: "no"}),
        Binary("t", values=["1", "2"], missing=[9], labels={1: "one"}),
        Continuous("f", labels={1.5: "half", 2**40: "much"}),
        Continuous("d", missing=[7], labels={7: "seven"}),
    ]
    with pytest.warns(UserWarning, match="t.sav alone does not tell .*, kind of 'd', .*; the whole"):
        write_table(frame, tmp_path / "t.sav", Schema(questions))
    found, notes = read_notes(tmp_path / "t.sav")
    assert notes.columns["b"].labels == {1: "yes", 0: "no"}
    assert notes.columns["t"] == ColumnNotes("", {"1": "one"}, ["9"], "nominal")
    assert notes.columns["f"].labels == {1.5: "half", 2**40: "much"}
    assert found["f"].tolist() == [1, 2]
    with pytest.warns(UserWarning, match=r"t.dta alone does not tell .*labels of 't', 'f'"):
        write_table(frame, tmp_path / "t.dta", Schema(questions))
    assert read_notes(tmp_path / "t.dta")[1].columns["b"].labels == {1: "yes", 0: "no"}
    pyreadstat.write_sav(frame[["d"]], tmp_path / "t.sav", missing_ranges={"d": [{"lo": 1, "hi": 2e10}]})
    assert read_notes(tmp_path / "t.sav")[1].columns["d"].missing == []


def test_ranks_say_their_items(tmp_path: Path) -> None:
    ranking = Schema([Ranking("aims", ranks={"peace": "r1", "growth": "r2"})])
    with pytest.warns(UserWarning, match="alone does not tell kind of 'aims'"):
        write_table(pd.DataFrame({"r1": [1, 2], "r2": [2, 1]}), tmp_path / "t.sav", ranking)
    assert read_notes(tmp_path / "t.sav")[1].columns["r2"] == ColumnNotes("growth", measure="ordinal")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_the_schema_of_other_files_always_goes_beside_them(ending: str, tmp_path: Path) -> None:
    written = write_table(CODED, tmp_path / f"t{ending}", Schema(QUESTIONS))
    assert written == [tmp_path / f"t{ending}", tmp_path / "t.schema.yaml"]
    found, found_schema = read_table(tmp_path / f"t{ending}")
    assert_frame_equal(found, CODED)
    assert found_schema == Schema(QUESTIONS)


def test_where_the_schema_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def guess(table: Any, overrule: Any, missing: Any, notes: Notes, counts: bool) -> infer.Guess:
        label = f"{overrule} {missing} {notes.columns['sex'].label}"
        return infer.Guess([Continuous("sex", label=label)])

    monkeypatch.setattr(infer, "guess", guess)
    path = tmp_path / "t.sav"
    write_table(CODED, path, Schema(QUESTIONS[:1]))
    (tmp_path / "t.schema.yaml").unlink()
    found = read_table(path, overrule={"sex": "continuous"}, missing=iter([9]))[1]
    assert found["sex"].label == "{'sex': 'continuous'} [9] Sex of the person"
    given_schema = Schema([Binary("sex", values=[1, 2], missing=[9])])
    assert read_table(path, given_schema)[1] is given_schema
    given_schema.to_yaml(tmp_path / "other.yaml")
    assert read_table(path, str(tmp_path / "other.yaml"))[1] == given_schema
    given_schema.to_yaml(tmp_path / "t.schema.yaml")
    assert read_table(path)[1] == given_schema
    assert read_table(path, Schema(QUESTIONS))[1] == Schema(QUESTIONS)
    for kwargs in ({"overrule": {"sex": "weight"}}, {"missing": [9]}):
        with pytest.raises(
            ValueError, match=r"overrule, missing and counts only guide a guess, but the schema in .*t.schema.yaml"
        ):
            read_table(path, **kwargs)
        with pytest.raises(ValueError, match="but the schema that you gave says all"):
            read_table(path, given_schema, **kwargs)


def test_bad_input_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for ending in ENDINGS:
        with pytest.raises(ValueError, match="question 'ag': the table has no column 'ag'; did you mean 'age'"):
            write_table(FRAME, tmp_path / f"t{ending}", Schema([Continuous("ag")]))
        with pytest.raises(ValueError, match="the table has more than one column 'age'"):
            write_table(pd.concat([FRAME, FRAME], axis=1), tmp_path / f"t{ending}")
        with pytest.raises(ValueError, match="the table has no columns; give at least one"):
            write_table(pd.DataFrame(index=[0]), tmp_path / f"t{ending}")
    assert not list(tmp_path.iterdir())
    (tmp_path / "t.schema.yaml").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder, but the schema must go there"):
        write_table(FRAME, tmp_path / "t.csv", Schema([Continuous("age")]))
    with pytest.raises(TypeError, match=r"schema must be a Schema, not str; read a file with Schema.from_yaml"):
        write_table(FRAME, tmp_path / "t.csv", "t.yaml")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ending", "names"),
    [
        (".sav", ["a b", "1a", "_a", "a-b", "All", "x" * 65, "é" * 33, "", "a.", "a\n"]),
        (".dta", ["a b", "1a", "a.b", "if", "str20", "x" * 33, "", "_n", "a\n"]),
    ],
)
def test_names_that_a_file_cannot_hold(ending: str, names: list[str], tmp_path: Path) -> None:
    for name in names:
        with pytest.raises(ValueError) as error:
            write_table(pd.DataFrame({"ok": [1], name: [2]}), tmp_path / f"t{ending}")
        assert f"takes no column named {name!r}: a name is a letter" in str(error.value)
        assert not list(tmp_path.iterdir())


def test_other_names(tmp_path: Path) -> None:
    both = pd.DataFrame({"a": [1], "A": [2]})
    with pytest.raises(ValueError, match="SPSS takes the columns 'a' and 'A' for one; rename one of them"):
        write_table(both, tmp_path / "t.sav")
    assert_frame_equal(back(both, ".dta", tmp_path), both)
    fine = pd.DataFrame({"é" * 32: [1], "a.b$": [2], "all_": [3], "x" * 64: [4]})
    assert_frame_equal(back(fine, ".sav", tmp_path), fine)


def test_types_in_spss_and_stata(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "b": [True, False, True],
            "f": [1.0, 2.0, np.nan],
            "n": [None, None, None],
            "e": pd.Series([None, None, None], dtype="str"),
            "c": pd.Categorical(["x", None, "y"], ["y", "x"]),
            "k": pd.Categorical([3, None, 1]),
            "big": [2**40, -(2**53), 0],
            "d": pd.to_datetime(["2020-01-02 03:04:05", None, "2021-01-01 00:00:00"]),
        }
    )
    expected = pd.DataFrame(
        {
            "b": [1, 0, 1],
            "f": pd.array([1, 2, None], dtype="Int64"),
            "n": [np.nan] * 3,
            "e": pd.Series([None, None, None], dtype="str"),
            "c": pd.Series(["x", None, "y"], dtype="str"),
            "k": pd.array([3, None, 1], dtype="Int64"),
            "big": [2**40, -(2**53), 0],
            "d": frame["d"],
        }
    )
    for ending, reader in ((".sav", pyreadstat.read_sav), (".dta", pyreadstat.read_dta)):
        assert_frame_equal(back(frame, ending, tmp_path), expected)
        kinds = reader(tmp_path / f"t{ending}")[1].original_variable_types
        assert (kinds["b"], kinds["big"]) == {".sav": ("F8.0", "F8.2"), ".dta": ("%12.0g", "%10.0g")}[ending]
        for value in (2**53 + 1, -(2**60) - 1):
            with pytest.raises(ValueError, match=rf"column 'a': value {value} \(row 1\) is too large for S"):
                write_table(pd.DataFrame({"a": [1, value]}), tmp_path / f"u{ending}")
        with pytest.raises(ValueError, match=r"column 'a': value 'x\\x00y' \(row 1\) holds a NUL"):
            write_table(pd.DataFrame({"a": ["x", "x\0y"]}), tmp_path / f"u{ending}")
        with pytest.raises(ValueError, match="column 'a' is of type timedelta"):
            write_table(pd.DataFrame({"a": pd.to_timedelta([1])}), tmp_path / f"u{ending}")
        with pytest.warns(UserWarning, match=r"cannot tell an empty text from a blank \(columns 'a'\)"):
            write_table(pd.DataFrame({"a": ["x", ""]}), tmp_path / f"u{ending}")
    with pytest.raises(ValueError, match=r"column 'a': value inf \(row 0\) is too large for Stata"):
        write_table(pd.DataFrame({"a": [np.inf]}), tmp_path / "u.dta")
    with pytest.warns(UserWarning, match=r"^SPSS cuts off spaces at the end of a text \(columns 'a'\)$"):
        write_table(pd.DataFrame({"a": ["x "]}), tmp_path / "u.sav")


def test_dates_and_files_of_others(tmp_path: Path) -> None:
    days = pd.DataFrame({"d": [date(2020, 1, 2), None], "t": [time(1, 2), time(3, 4, 5)]})
    for ending in (".sav", ".dta"):
        found = back(days, ending, tmp_path)
        assert [None if pd.isna(cell) else cell for cell in found["d"]] == days["d"].tolist()
        assert found["t"].tolist() == days["t"].tolist()
        with pytest.raises(ValueError, match=r"column 'a' is of type datetime64\[.*UTC\], which S"):
            write_table(pd.DataFrame({"a": pd.to_datetime(["2020-01-02"], utc=True)}), tmp_path / f"u{ending}")
    frame = pd.DataFrame({"a": np.array([1, 2], "int8"), "b": np.array([1.5, 2], "float32"), "c": [np.nan, 3.0]})
    frame.to_stata(tmp_path / "o.dta", write_index=False, version=114, variable_labels={"a": "A"})
    found, notes = read_notes(tmp_path / "o.dta")
    assert_frame_equal(found, pd.DataFrame({"a": [1, 2], "b": [1.5, 2.0], "c": pd.array([None, 3], dtype="Int64")}))
    assert notes.columns["a"] == ColumnNotes("A")
    polars = pl.DataFrame({"c": ["x", None], "n": [None, None], "d": [date(2020, 1, 2), None], "u": [1, 2**53]})
    polars = polars.with_columns(pl.col("c").cast(pl.Enum(["x", "y"])), k=pl.col("c").cast(pl.Categorical))
    arrow = polars.to_pandas(use_pyarrow_extension_array=True)
    for data, ending in product((polars, arrow), (".sav", ".dta", ".csv")):
        found = back(data, ending, tmp_path)
        assert found["c"].fillna("-").tolist() == found["k"].fillna("-").tolist() == ["x", "-"]
        assert found["u"].tolist() == [1, 2**53]
        assert found["n"].isna().all()
        assert str(found["d"][0]) == "2020-01-02"


@pytest.mark.parametrize("labels", [{}, {"aXb": "x", "b": "y", "c": "z"}])
def test_an_old_encoding(labels: dict[str, str], tmp_path: Path) -> None:
    write_table(
        pd.DataFrame({"n": [1], "a": ["aXb"]}),
        tmp_path / "t.sav",
        Schema([Categorical("a", labels=labels), Continuous("n")]),
    )
    raw = (tmp_path / "t.sav").read_bytes()
    (tmp_path / "t.sav").write_bytes(raw.replace(b"aXb", b"a\xe9b"))
    with pytest.warns(UserWarning, match="were read as Windows-1252; check the accents"):
        found, notes = read_notes(tmp_path / "t.sav")
    assert found["a"].tolist() == ["aéb"]
    assert list(notes.columns["a"].labels) == [code.replace("X", "é") for code in labels]


# Multiple-response sets of SPSS

OPTIONS = pd.DataFrame(
    {
        "q5_1": [1, 0],
        "a_very_long_name": [0, 1],
        "A_VERY_LONG_NAME_2": [1, 1],
        "t1": ["Yes", "No"],
        "t2": ["No", "Yes"],
        "long": ["x" * 600, "y"],
    }
)


def sets_of(folder: Path, *texts: str | bytes, subtype: int = 7) -> list[ChoiceSet]:
    """Read the sets of a file into which they were put just before the end of its dictionary."""
    path = folder / "t.sav"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_table(OPTIONS, path, Schema([Binary("q5_1", values=[0, 1], label="A label", labels={0: "no", 1: "yes"})]))
    raw = path.read_bytes()
    end = raw.index(struct.pack("<ii", 999, 0))
    for text in texts:
        content = text.encode() if isinstance(text, str) else text
        record = struct.pack("<iiii", 7, subtype, 1, len(content)) + content
        raw = raw[:end] + record + raw[end:]
        end += len(record)
    path.write_bytes(raw)
    frame, notes = read_notes(path)
    assert_frame_equal(frame, OPTIONS.astype(dict.fromkeys(("t1", "t2", "long"), "str")))
    assert notes.columns["q5_1"].label == "A label"
    return notes.sets


def short(name: str, folder: Path) -> str:
    """Find the short name under which a file knows a column."""
    raw = (folder / "t.sav").read_bytes()
    at = raw.index(f"={name}".encode())
    return raw[at - 8 : at].split(b"\t")[-1].decode().strip("\0\r\n\x01 ")


def test_multiple_response_sets(tmp_path: Path) -> None:
    assert sets_of(tmp_path) == []
    first, second = (short(name, tmp_path).lower() for name in ("a_very_long_name\t", "A_VERY_LONG_NAME_2"))
    assert first != second
    found = sets_of(
        tmp_path,
        f"\n\n$hobbies=D1 1 7 Hobbies q5_1 {first}\n$c=C 9 a $b\n= 1 q5_1 {second}\n\n\n",
        "$texts=D8 Yes      0  t1 t2\n$padded=D8 1        5 Täg Q5_1\n",
    )
    assert found == [
        ChoiceSet("hobbies", ["q5_1", "a_very_long_name"], "Hobbies", 1),
        ChoiceSet("c", ["q5_1", "A_VERY_LONG_NAME_2"], "a $b\n= 1", None),
        ChoiceSet("texts", ["t1", "t2"], "", "Yes"),
        ChoiceSet("padded", ["q5_1"], "Täg", 1),
    ]
    # ReadStat has its own ideas of these sets, and may refuse a file for one of them: it must not see any
    raw = (tmp_path / "t.sav").read_bytes()
    assert pyreadstat.read_sav(io.BytesIO(raw))[1].mr_sets
    assert not pyreadstat.read_sav(io.BytesIO(sav.without_sets(raw, sav.dictionary(raw))))[1].mr_sets
    found = sets_of(tmp_path, f"$d=E 1 1 1 5 third q5_1 {first}\n$e=E 11 3 Yes 0  t1 t2\n", subtype=19)
    assert found == [
        ChoiceSet("d", ["q5_1", "a_very_long_name"], "third", 1),
        ChoiceSet("e", ["t1", "t2"], "", "Yes"),
    ]


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("$x=C 0  nope q5_1\n", "$x", "it names 'nope', which is no variable of the file"),
        ("$x=C 0  \n", "$x", "it names no variables"),
        ("$x=C 99 short q5_1\n", "$x", "the length of its label or counted value is wrong"),
        ("$x=D1 1 q5_1\n", "$x", "the length of its label or counted value is wrong"),
        ("$x=D3 Yes 0  q5_1\n", "$x", "its counted value 'Yes' is no number, but its variables are"),
        ("$x=Q 0  q5_1\n", "$x", "it does not look like"),
        ("garbage\n", "garbage", "it does not look like"),
        (b"$\xff\xfe=D", "$\ufffd\ufffd", "it does not look like|the length"),
    ],
)
def test_a_set_that_cannot_be_read_is_left_out(text: str | bytes, name: str, why: str, tmp_path: Path) -> None:
    fine = b"$fine=D1 1 4 Fine q5_1\n"
    content = text.encode() if isinstance(text, str) else text
    for mixed in (content + fine, fine + content) if content.endswith(b"\n") else (fine + content,):
        with pytest.warns(UserWarning, match=f"set {re.escape(repr(name))} is left out: ({why})") as said:
            assert sets_of(tmp_path, mixed) == [ChoiceSet("fine", ["q5_1"], "Fine", 1)]
        assert len(said) == 1


@given(st.binary(max_size=40), st.sampled_from([7, 19]))
@examples(100)
def test_no_record_of_sets_breaks_a_file(content: bytes, subtype: int) -> None:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sets_of(Path(folder), content, b"$x=D" + content, subtype=subtype)


def test_a_set_becomes_a_multicategorical_question(tmp_path: Path) -> None:
    """A .sav as SPSS writes it: labelled columns of 1 = yes and 2 = no, and a set that counts the 1."""
    random = np.random.default_rng(0)
    hobbies = {"q5_chess": "Chess", "q5_judo": "Judo", "q5_golf": "Golf"}
    frame = pd.DataFrame({name: random.choice([1.0, 2.0, np.nan], 60, p=[0.4, 0.4, 0.2]) for name in hobbies})
    frame["age"] = random.normal(40, 9, 60)
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(
        frame,
        path,
        column_labels={**{name: f"Hobbies: {option}" for name, option in hobbies.items()}, "age": "Age"},
        variable_value_labels={name: {1: "Yes", 2: "No"} for name in hobbies},
        variable_measure=dict.fromkeys(hobbies, "nominal"),
    )
    content = b"$hobbies=D1 1 16 What do you like Q5_CHESS Q5_JUDO Q5_GOLF\n"
    raw = path.read_bytes()
    end = raw.index(struct.pack("<ii", 999, 0))
    path.write_bytes(raw[:end] + struct.pack("<iiii", 7, 7, 1, len(content)) + content + raw[end:])
    found, told = read_table(path)
    assert told["hobbies"] == Multicategorical(
        "hobbies",
        columns={option: name for name, option in hobbies.items()},
        ticked=1,
        unticked=[2],
        label="What do you like",
        labels={1: "Yes", 2: "No"},
    )
    answers = encode(found, told)
    expected = np.where(frame[list(hobbies)].isna(), answers.blank, frame[list(hobbies)] == 1)
    np.testing.assert_array_equal(answers.codes, expected)
    assert_frame_equal(Table(found).written(decode(answers, told, like=found))[list(hobbies)], found[list(hobbies)])
