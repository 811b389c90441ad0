"""The schema of a survey: its questions, what to ignore, and the weight of a row."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvrbm import yamltext
from mvrbm.cells import aligned, some
from mvrbm.encoding import asked, blocks, count_rows, encode, read_columns
from mvrbm.notes import Notes
from mvrbm.tables import Table
from mvrbm.units import KINDS, Question, question_from_dict
from mvrbm.whole import written_whole

_PARTS = ("questions", "ignore", "weight")


class Schema:
    """The questions of a survey, in order.

    Columns of the table that no question names are ignored; `ignore` lists some of them by name, for the record.
    `weight` is the column with the weight of each row.

    >>> from mvrbm.units import Binary, Continuous
    >>> schema = Schema([Binary("satisfied", values=["no", "yes"]), Continuous("age")], weight="w")
    >>> schema["age"], len(schema), schema.names
    (Continuous('age'), 2, ['satisfied', 'age'])

    Printed, it is a table:

    >>> print(schema)
    question   kind        values
    satisfied  binary      'no', 'yes'
    age        continuous  numbers
    weight: w
    """

    reasons: Mapping[str, str]
    """Why `infer` decided as it did: for each question, each column that it set aside and the weight."""
    advice: list[str]
    """Where `infer` is in doubt, and what to say then."""

    def __init__(self, questions: Iterable[Question], ignore: Iterable[str] = (), weight: str | None = None) -> None:
        if isinstance(questions, Question) or isinstance(ignore, str):
            raise ValueError("a schema takes a list of questions and a list of columns to ignore")
        self.questions = list(questions)
        self.ignore = list(ignore)
        self.weight = weight
        self.reasons, self.advice = {}, []
        self._check_questions()
        self._check_columns()

    def _check_questions(self) -> None:
        if not self.questions:
            raise ValueError("a schema needs at least one question")
        for question in self.questions:
            if not isinstance(question, Question):
                kinds = ", ".join(kind.__name__ for kind in KINDS)
                raise ValueError(f"a schema holds questions ({kinds}), not {question!r}")
        for question in self.questions:
            if self.names.count(question.name) > 1:
                raise ValueError(f"question {question.name!r}: the name is given twice; rename one of the two")
            self._check_rule(question)
        try:
            TopologicalSorter({q.name: list(q.asked_if or ()) for q in self.questions}).prepare()
        except CycleError as error:
            way = " -> ".join(map(str, error.args[1]))
            raise ValueError(f"question {error.args[1][0]!r}: asked_if leads back to itself ({way})") from None

    def _check_rule(self, question: Question) -> None:
        """Make sure that a skip rule asks other questions for answers that they can have."""
        for name, values in (question.asked_if or {}).items():
            if name not in self.names or name == question.name:
                near = difflib.get_close_matches(str(name), self.names, n=1)
                mean = f"; did you mean {near[0]!r}?" if near and near[0] != question.name else ""
                what = f"asked_if names {name!r}, which is no other question{mean}"
                raise ValueError(f"question {question.name!r}: {what}")
            other = self[name]
            if other.values is not None or other.n_numbers:
                for value in values if isinstance(values, list) else [values]:
                    other.says(np.zeros((0, other.n_codes + other.n_numbers)), value)

    def _check_columns(self) -> None:
        readers: dict[str, str] = {}
        for question in self.questions:
            for column in question.columns:
                if column in readers:
                    both = f"column {column!r} is already read by question {readers[column]!r}"
                    raise ValueError(f"question {question.name!r}: {both}; a column belongs to one question, once")
                readers[column] = question.name
        for column in self.ignore:
            if column in readers:
                raise ValueError(
                    f"question {readers[column]!r}: its column {column!r} is in ignore; keep one of the two"
                )
        if self.weight in readers:
            raise ValueError(
                f"question {readers[self.weight]!r}: its column {self.weight!r} is also the weight; keep one"
            )

    @property
    def names(self) -> list[str]:
        """The questions' names, in order."""
        return [question.name for question in self.questions]

    @property
    def columns(self) -> list[str]:
        """The table's columns that some question reads, in the order of the questions."""
        return [column for question in self.questions for column in question.columns]

    @classmethod
    def infer(
        cls,
        data: Any,
        overrule: Mapping[str, Question | str | Mapping[str, Any]] | None = None,
        *,
        missing: Iterable[Any] = (),
        counts: bool = False,
        notes: Notes | None = None,
    ) -> Schema:
        """Guess the questions of a table: a start to look at (`print` it) and to edit.

        `overrule` settles what you know better, by the name of a column or question: a kind ("ordinal"), "ignore",
        "weight", settings such as `{"missing": [99]}` or `{"kind": "ordinal", "low": 0}`, or a whole question such as
        `Ordinal("q5", values=[...])`. `missing` lists codes that mean blank wherever they occur. With `counts`, columns
        of small whole numbers from 0 on, most of them low, are counts instead of scales or numbers. `notes` are what
        a file says of its columns; `read_table` passes them on.
        """
        if not isinstance(overrule or {}, Mapping):
            raise TypeError(f"overrule must look like {{column: 'ordinal'}}, not {overrule!r}")
        from mvrbm.infer import guess

        guessed = guess(Table(data), dict(overrule or {}), list(missing), notes or Notes(), counts)
        schema = cls(guessed.questions, ignore=guessed.ignore, weight=guessed.weight)
        schema.reasons, schema.advice = guessed.reasons, guessed.advice
        return schema

    def learn(self, data: Any) -> Schema:
        """Make a copy in which the values that were left out are those found in the table."""
        table = Table(data)
        count_rows(table)
        questions = [question.learn(read_columns(table, question)) for question in self.questions]
        learnt = Schema(questions, ignore=self.ignore, weight=self.weight)
        learnt.reasons, learnt.advice = self.reasons, self.advice
        return learnt

    def asked(self, data: Any, unseen: str = "error") -> dict[str, NDArray[np.bool_]]:
        """Find the people to whom each question was put, by its skip rule; the others' blanks are no refusals.

        Where the answer that the rule asks for is itself blank, nobody knows: it counts as put.

        >>> import pandas as pd
        >>> from mvrbm.units import Binary, Continuous
        >>> schema = Schema([Binary("smokes", ["no", "yes"]), Continuous("a day", asked_if={"smokes": "yes"})])
        >>> schema.asked(pd.DataFrame({"smokes": ["yes", "no", None], "a day": [10, None, None]}))["a day"]
        array([ True, False,  True])
        """
        table = Table(data)
        known = all(question.values is not None or question.n_numbers for question in self.questions)
        schema = self if known else self.learn(table)
        return asked(encode(table, schema, unseen), schema)

    def tell(self, data: Any, unseen: str = "error") -> Any:
        """Say how each row of a table is read: a table with a column of words for each question, "" for a blank.

        >>> import pandas as pd
        >>> from mvrbm.units import Ranking
        >>> frame = pd.DataFrame({"tea": [1, 2, None], "milk": [1, 1, None]})
        >>> Schema([Ranking("drinks", ranks=["tea", "milk"])]).tell(frame)["drinks"].tolist()
        ['tea = milk', 'milk > tea', '']
        """
        table = Table(data)
        learnt = self.learn(table)
        found = blocks(encode(table, learnt, unseen), learnt)
        return table.only({question.name: np.array(question.tell(block), object) for question, block in found})

    def to_dict(self) -> dict[str, Any]:
        """List all that the schema says, as plain data."""
        told = [question.to_dict() for question in self.questions]
        data: dict[str, Any] = {"questions": {question.pop("name"): question for question in told}}
        return (
            data | ({"ignore": self.ignore} if self.ignore else {}) | ({"weight": self.weight} if self.weight else {})
        )

    @classmethod
    def from_dict(cls, data: object) -> Schema:
        """Rebuild the schema that `to_dict` wrote; as a person may write it, `age: continuous` is enough."""
        questions = data.get("questions") if isinstance(data, Mapping) else None
        if isinstance(questions, list) and all(isinstance(each, Mapping) and "name" in each for each in questions):
            questions = {each["name"]: each for each in questions}
        if not isinstance(data, Mapping) or not isinstance(questions, Mapping):
            raise ValueError("it is no schema: it needs questions: and below it, by name, age: {kind: continuous}")
        for key in data:
            if key not in _PARTS:
                near = difflib.get_close_matches(str(key), _PARTS, n=1)
                instead = f"did you mean {near[0]!r}?" if near else f"a schema has {', '.join(_PARTS)}"
                raise ValueError(f"it is no schema: unknown part {key!r}; {instead}")
        made = []
        for name, told in questions.items():
            if not isinstance(told, (str, Mapping)):
                raise ValueError(f"question {name!r}: {told!r} does not say what it asks; say kind: ...")
            made.append(question_from_dict({**({"kind": told} if isinstance(told, str) else told), "name": str(name)}))
        ignore, weight = data.get("ignore") or [], data.get("weight")
        ignore = [ignore] if isinstance(ignore, (str, int)) else ignore
        if not isinstance(ignore, list):
            raise ValueError(f"it is no schema: ignore must be a list of columns, not {ignore!r}")
        if isinstance(weight, (list, Mapping)):
            raise ValueError(f"it is no schema: weight must be one column, not {weight!r}")
        return cls(made, [str(column) for column in ignore], None if weight is None else str(weight))

    def to_yaml(self, path: str | os.PathLike[str], remark: str = "") -> None:
        """Write the schema to a file that a person can read and edit; `remark` is put on top."""
        text = self.yaml(remark)
        with written_whole(path) as file:
            file.write_text(text, encoding="utf-8")

    def yaml(self, remark: str = "") -> str:
        """Say the schema as the text of a YAML file."""
        data = self.to_dict()
        lines = [f"# {_one_line(line)}\n" for line in [*remark.split("\n"), *self.advice] if line]
        lines.append("questions:\n")
        for name, question in data.pop("questions").items():
            lines.append(f"  # {_one_line(self.reasons[name])}\n" if name in self.reasons else "")
            plainer = {key: str(value).lower() if isinstance(value, bool) else value for key, value in question.items()}
            lines.append(yamltext.dump({name: plainer}, indent=2))
        for key, value in data.items():
            columns = value if key == "ignore" else [value]
            told = [f"{column}: {self.reasons[column]}" for column in columns if column in self.reasons]
            lines += [f"# {_one_line(line)}\n" for line in told]
            lines.append(yamltext.dump({key: value}))
        return "".join(lines)

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema from a file; only numbers are more than text, so that [no, yes] are two answers."""
        if not Path(path).is_file():
            raise FileNotFoundError(f"{path}: there is no such file; write one with Schema.to_yaml")
        try:
            return cls.from_dict(yamltext.load(Path(path).read_bytes()))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}: {error}") from None

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    def __contains__(self, name: object) -> bool:
        return name in self.names or any(name == question for question in self.questions)

    def __getitem__(self, name: str) -> Question:
        for question in self.questions:
            if question.name == name:
                return question
        raise KeyError(f"no question is named {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        same = self.questions == other.questions and self.ignore == other.ignore
        return same and self.weight == other.weight

    __hash__ = None  # type: ignore[assignment]  # a person may edit it

    def __str__(self) -> str:
        """A table of the questions, what was set aside and, where the schema was inferred, why."""
        rows = [[q.name, q.kind, _told(q), self.reasons.get(q.name, "")] for q in self.questions]
        text = aligned([["question", "kind", "values", "why" if self.reasons else ""], *rows])
        for column in self.ignore:
            text += f"ignored: {column}" + (f" ({self.reasons[column]})\n" if column in self.reasons else "\n")
        if self.weight:
            text += f"weight: {self.weight}" + (
                f" ({self.reasons[self.weight]})\n" if self.weight in self.reasons else "\n"
            )
        return (text + "".join(f"{line}\n" for line in self.advice)).rstrip("\n")

    def __repr__(self) -> str:
        lines = "".join(f"    {question!r},\n" for question in self.questions)
        more = (f", ignore={self.ignore!r}" if self.ignore else "") + (
            f", weight={self.weight!r}" if self.weight else ""
        )
        return f"Schema([\n{lines}]{more})"


def _told(question: Question) -> str:
    """Say a question's values, its codes for blanks and its skip rule."""
    blank = f"; blank: {some(question.missing, 4)}" if question.missing else ""
    rule = " and ".join(f"{name} is {values!r}" for name, values in (question.asked_if or {}).items())
    return question.described + blank + (f"; if {rule}" if rule else "")


def _one_line(text: str) -> str:
    """Say a text in signs that can stand in a comment."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
