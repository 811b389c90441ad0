"""The schema: what it holds, what it refuses, what it learns."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

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
