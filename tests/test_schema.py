"""The schema: what it holds, what it refuses, what it learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from mvrbm import yamltext
from mvrbm.schema import Schema
from mvrbm.units import Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking

SATISFIED = Binary("satisfied", values=["no", "yes"])
AGE = Continuous("age", low=0)
PROBLEMS = Multicategorical("problems", columns={"Work": "q5_1", "Crime": "q5_2"})


def test_holds_its_questions_in_order() -> None:
    schema = Schema([SATISFIED, AGE, PROBLEMS], ignore=["id"], weight="w")
    assert list(schema) == [SATISFIED, AGE, PROBLEMS]
    assert len(schema) == 3
    assert schema.names == ["satisfied", "age", "problems"]
    assert schema.columns == ["satisfied", "age", "q5_1", "q5_2"]
    assert schema["age"] is AGE
    assert "age" in schema
    assert AGE in schema
    assert "w" not in schema
    with pytest.raises(KeyError, match="no question is named 'q5_1'"):
        schema["q5_1"]


def test_equality_and_repr() -> None:
    schema = Schema([SATISFIED, AGE], ignore=["id"], weight="w")
    assert schema == Schema([SATISFIED, Continuous("age", low=0)], ignore=["id"], weight="w")
    assert schema != Schema([AGE, SATISFIED], ignore=["id"], weight="w")
    assert schema != Schema([SATISFIED, AGE], weight="w")
    assert schema != Schema([SATISFIED, AGE], ignore=["id"])
    assert schema != [SATISFIED, AGE]
    names = {"Schema": Schema, "Binary": Binary, "Continuous": Continuous}
    assert eval(repr(schema), names) == schema


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ([AGE, AGE], {}, "question 'age': the name is given twice"),
    ([AGE, "sex"], {}, "a schema holds questions (Binary, Categorical, "),
    (AGE, {}, "a schema takes a list of questions"),
    ([AGE], {"ignore": "id"}, "a list of columns to ignore"),
    ([PROBLEMS, Binary("q5_2")], {}, "question 'q5_2': column 'q5_2' is already read by question 'problems'"),
    ([Ranking("r", choices=["a", "a"])], {}, "column 'a' is already read by question 'r'"),
    ([AGE, PROBLEMS], {"weight": "q5_1"}, "question 'problems': its column 'q5_1' is also the weight"),
    ([AGE], {"ignore": ["age"]}, "question 'age': its column 'age' is in ignore"),
    ([AGE, Binary("drives", asked_if={"licence": "yes"})], {}, "asked_if names 'licence', which is no other question"),
    ([Binary("drives", asked_if={"drives": 1})], {}, "asked_if names 'drives', which is no other question"),
    (
        [SATISFIED, Binary("why", asked_if={"satisfied": "maybe"})],
        {},
        "question 'satisfied': a skip rule asks for 'maybe', which is not among its 2 values",
    ),
    ([AGE, Binary("drives", asked_if={"age": "old"})], {}, "a skip rule asks for 'old', which is no number"),
    (
        [Binary("a", asked_if={"b": 1}), Binary("b", asked_if={"c": 1}), Binary("c", asked_if={"a": 1})],
        {},
        "asked_if leads back to itself",
    ),
    (
        [Ranking("r", ranks={"a": "x", "b": "y"}), Binary("why", asked_if={"r": "a"})],
        {},
        "question 'r': a skip rule cannot ask what a ranking question says",
    ),
]


@pytest.mark.parametrize(("questions", "given", "words"), REFUSED)
def test_refuses(questions: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError) as error:
        Schema(questions, **given)
    assert words in str(error.value)


def test_learns_the_values_that_were_left_out() -> None:
    frame = pd.DataFrame({"satisfied": ["no", "no"], "country": ["b", "a"], "ladder": [3, None], "id": [1, 2]})
    schema = Schema([SATISFIED, Categorical("country"), Ordinal("ladder", values=[1, 2, 3])], ignore=["id"])
    learnt = schema.learn(frame)
    assert learnt["country"].values == ["a", "b"]
    assert schema["country"].values is None
    assert learnt["satisfied"] == SATISFIED
    assert learnt.ignore == ["id"]
    assert learnt.learn(frame) == learnt


def test_learning_says_which_column_is_missing() -> None:
    with pytest.raises(ValueError, match="question 'age': the table has no column 'age'; it has 'years'"):
        Schema([AGE]).learn(pd.DataFrame({"years": [1]}))
    with pytest.raises(ValueError, match="the table has no rows"):
        Schema([AGE]).learn(pd.DataFrame({"age": []}))


FULL = Schema(
    [
        Binary("satisfied", values=["no", "yes"], label="Are you satisfied?", missing=["refused", 99]),
        Binary("glad", values=[False, True]),
        Categorical("country", labels={1: "Peru", 2: "Chad"}, values=[1, 2], missing=[-1]),
        Categorical("1", values=["1", "2", "010", "1e3", "null", "~", "2020-01-01", "a: b", "# c", " x", ""]),
        Ordinal("ladder", values=[0, 0.5, 1, 1e20], basis="stereotype", dimension=2, asked_if={"satisfied": ["yes"]}),
        Continuous("age", low=0, high=120.5, integer=True, sigma="learn", asked_if={"glad": True}),
        Multicategorical("problems", columns={"Work": "q5_1", 2: "q5_2"}, ticked=1, unticked=[2], empty="blank"),
        Multicategorical("hobbies", column="hobbies", separator=None, values=["chess", "judo"], allow_empty=False),
        Multicategorical("sports", column="sports", separator="|"),
        Ranking("films", ranks={"I": "rank_1", "II": "rank_2"}, ties="learn"),
        Ranking("dangers", choices=["q10", "q11"], values=["a", "b", "c"]),
        Ranking("aims", column="aims", separator=" > ", values=["\u00fcber", "line\nbreak"]),
    ],
    ignore=["id", "no"],
    weight="w",
)


def test_a_file_brings_the_schema_back(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    FULL.to_yaml(path, remark="why it is here\nand what for")
    assert Schema.from_yaml(path) == FULL
    assert Schema.from_yaml(str(path)) == FULL
    text = path.read_text()
    assert text.startswith("# why it is here\n# and what for\nquestions:\n")
    assert "values: [no, yes]" in text
    assert Schema.from_dict(FULL.to_dict()) == FULL
    assert sorted(tmp_path.iterdir()) == [path], "nothing is left beside it"


def test_what_a_person_writes_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(
        """
questions:
  satisfied: {kind: binary, values: [no, yes]}
  switch: {kind: binary, values: [off, on], missing: [n/a, 99]}
  2020: {kind: continuous, low: 0, integer: true}
  code: {kind: categorical, values: [010, 0x1, 1_000, 2020-01-01]}
  ticks: {kind: multicategorical, columns: {Work: 1, Crime: 2}, allow_empty: no}
  income: {kind: Continuous, missing: 99999}
  height: continuous
  hobbies: {kind: multicategorical, columns: [chess, judo]}
ignore: id
""",
        encoding="utf-8-sig",
    )
    schema = Schema.from_yaml(path)
    assert schema["satisfied"].values == ["no", "yes"]
    assert schema["switch"] == Binary("switch", values=["off", "on"], missing=["n/a", 99])
    assert schema["2020"] == Continuous("2020", low=0, integer=True)
    assert schema["code"].values == ["010", "0x1", "1_000", "2020-01-01"]
    assert schema["ticks"].columns == ["1", "2"]
    assert schema["ticks"].settings()["allow_empty"] is False
    assert schema["income"] == Continuous("income", missing=[99999])
    assert schema["height"] == Continuous("height")
    assert schema["hobbies"] == Multicategorical("hobbies", columns={"chess": "chess", "judo": "judo"})
    assert schema.ignore == ["id"]


NO_SCHEMAS = [
    ("", "it is no schema: it needs questions: and below it"),
    ("- a\n- b\n", "it is no schema: it needs questions: and below it"),
    ("questions: [age]", "it is no schema: it needs questions: and below it"),
    ("questions: {}", "a schema needs at least one question"),
    ("questions: {age: continous}", "question 'age': unknown kind 'continous'; did you mean 'continuous'?"),
    ("questions: {age: [continuous]}", "question 'age': ['continuous'] does not say what it asks"),
    ("questions: {age: {}}", "question 'age': it has no kind (kind: ...); the kinds are binary"),
    ("questions: {age: {kind: number}}", "question 'age': unknown kind 'number'; the kinds are binary"),
    ("questions: {age: {kind: [a]}}", "question 'age': unknown kind ['a']"),
    ("questions: {age: {kind: continuous, values: [1]}}", "question 'age': unknown setting 'values'"),
    ("questions: {age: {kind: continuous, low: young}}", "question 'age': low must be a number, not 'young'"),
    ("questions: {age: {kind: continuous, integer: maybe}}", "question 'age': integer must be true or false"),
    ("questions: {age: {kind: continuous, missing: {99: x}}}", "question 'age': missing must be a list"),
    ("questions: {age: {kind: continuous, mising: [9]}}", "unknown setting 'mising'; did you mean 'missing'?"),
    ("questions: {age: {kind: continuous, sigma: [1]}}", "question 'age': sigma must be None"),
    ("questions: {a: {kind: ordinal, values: 5}}", "question 'a': values must be a list"),
    ("questions: {a: {kind: ordinal, values: [[1], 2]}}", "question 'a': its value [1] is neither a text nor a number"),
    ("questions: {a: {kind: ordinal, labels: [x]}}", "question 'a': labels must look like"),
    ("questions: {a: {kind: ordinal, basis: [x]}}", "question 'a': basis must be one of"),
    ("questions: {a: {kind: ordinal, dimension: x}}", "question 'a': dimension must be a whole number"),
    ("questions: {a: {kind: ordinal, asked_if: [b]}}", "question 'a': asked_if must look like"),
    ("questions: {a: {kind: multicategorical, columns: b}}", "question 'a': columns must look like {option: column}"),
    ("questions: {a: {kind: multicategorical, columns: {b: [c]}}}", "question 'a': columns must name columns"),
    ("questions: {a: {kind: multicategorical, column: {b: c}}}", "question 'a': column must name columns"),
    ("questions: {a: {kind: multicategorical, column: b, separator: [x]}}", "question 'a': separator must be a text"),
    ("questions: {a: {kind: multicategorical, columns: {b: c}, ticked: [1]}}", "question 'a': ticked"),
    ("questions: {a: {kind: multicategorical, columns: {b: c}, empty: [1]}}", "question 'a': empty must be"),
    ("questions: {a: {kind: ranking, choices: x}}", "question 'a': choices must be a list"),
    ("questions: {a: {kind: ranking, column: b, separator: [x]}}", "question 'a': separator must be a text"),
    ("questions: {a: {kind: binary}, a: {kind: ordinal}}", "it is no YAML (line 1): 'a' is there twice"),
    ("questions: {a: {kind: binary}}\nweigth: w", "it is no schema: unknown part 'weigth'; did you mean 'weight'?"),
    ("questions: {a: {kind: binary}}\nignore: {id: x}", "ignore must be a list of columns"),
    ("questions:\n  a:\n\tkind: binary", "indent with spaces, not tabs"),
    ("questions: {a: {kind: binary}}\nweight: [w]", "weight must be one column"),
    ("questions: {a: {kind: binary}", "it is no YAML"),
    ("questions: !!python/object/apply:os.system [ls]", "it is no YAML"),
    ("a: &a [x, x]\nb: &b [*a, *a]\nquestions: *b", "it is no schema"),
    ("\0", "it is no YAML"),
    ("\x89PNG", "it is no YAML"),
]


@pytest.mark.parametrize(("text", "words"), NO_SCHEMAS)
def test_a_file_that_is_no_schema_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError) as error:
        Schema.from_yaml(path)
    assert str(error.value).startswith(f"{path}: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_grows_without_end_is_refused() -> None:
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))
    with pytest.raises(ValueError, match="more than a million entries"):
        yamltext.load(("a0: &a0 [x]\n" + levels).encode())


def test_questions_as_a_list_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text("questions:\n  - {name: age, kind: continuous}\n")
    assert Schema.from_yaml(path) == Schema([Continuous("age")])
    with pytest.raises(FileNotFoundError, match="there is no such file; write one with"):
        Schema.from_yaml(tmp_path / "absent.yaml")


def test_long_names_and_odd_reasons_stay_readable(tmp_path: Path) -> None:
    long = "Please say whether you agree with this: " + "very " * 40 + "long"
    schema = Schema([Continuous(long), Multicategorical("q", columns={f"{long} {n}": f"c{n}" for n in range(5)})])
    schema.reasons = {long: "a reason\nof two lines\x85", "no\nname": "left out"}
    schema.ignore = ["no\nname"]
    schema.to_yaml(tmp_path / "s.yaml")
    assert Schema.from_yaml(tmp_path / "s.yaml") == schema
    text = (tmp_path / "s.yaml").read_text()
    assert "\n  ?" not in text
    assert max(map(len, text.splitlines())) < 300


PLAIN = st.text(max_size=8) | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()


@examples(100)
@given(st.dictionaries(st.text() | st.integers(), PLAIN | st.lists(PLAIN) | st.dictionaries(st.text(), PLAIN)))
def test_plain_data_survives_yaml(data: dict[Any, Any]) -> None:
    again = yamltext.load(yamltext.dump(data).encode())
    assert again == data
    assert repr(again) == repr(data)
