"""The schema of a survey: its questions, what to ignore, and the weight of a row."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mvrbm import yamltext
from mvrbm.cells import aligned
from mvrbm.encoding import count_rows, read_columns
from mvrbm.infer import guess
from mvrbm.notes import Notes
from mvrbm.tables import Table
from mvrbm.units import KINDS, Question, question_from_dict
from mvrbm.whole import written_whole


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

    def __init__(self, questions: Iterable[Question], ignore: Iterable[str] = (), weight: str | None = None) -> None:
        if isinstance(questions, Question) or isinstance(ignore, str):
            raise ValueError("a schema takes a list of questions and a list of columns to ignore")
        self.questions = list(questions)
        self.ignore = list(ignore)
        self.weight = weight
        self.reasons = {}
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
            self._check_rule(question, [])

    def _check_rule(self, question: Question, before: list[str]) -> None:
        """Make sure that a skip rule asks other questions for answers they can have, and never comes back to itself."""
        for name, values in (question.asked_if or {}).items():
            if name not in self.names or name == question.name:
                raise ValueError(f"question {question.name!r}: asked_if names {name!r}, which is no other question")
            if name in before:
                raise ValueError(f"question {question.name!r}: asked_if leads back to itself by way of {name!r}")
            other = self[name]
            if other.values is not None or other.n_numbers:
                for value in values if isinstance(values, list) else [values]:
                    other.says(np.zeros((0, other.n_codes + other.n_numbers)), value)
            self._check_rule(other, [*before, question.name])

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
        overrule: Mapping[str, Question | str] | None = None,
        *,
        missing: Iterable[Any] = (),
        notes: Notes | None = None,
    ) -> Schema:
        """Guess the questions of a table: a start to look at (`print` it) and to edit.

        `overrule` settles what you know better, by the name of a column or question: a kind ("ordinal"), "ignore",
        "weight", or a whole question such as `Ordinal("q5", values=[...])`. `missing` lists codes that mean blank
        wherever they occur. `notes` are what a file says of its columns; `read_table` passes them on.
        """
        guessed = guess(Table(data), dict(overrule or {}), list(missing), notes or Notes())
        schema = cls(guessed.questions, ignore=guessed.ignore, weight=guessed.weight)
        schema.reasons = guessed.reasons
        return schema

    def learn(self, data: Any) -> Schema:
        """Make a copy in which the values that were left out are those found in the table."""
        table = Table(data)
        count_rows(table)
        questions = [question.learn(read_columns(table, question)) for question in self.questions]
        learnt = Schema(questions, ignore=self.ignore, weight=self.weight)
        learnt.reasons = self.reasons
        return learnt

    def to_dict(self) -> dict[str, Any]:
        """List all that the schema says, as plain data."""
        told = [question.to_dict() for question in self.questions]
        data: dict[str, Any] = {"questions": {question.pop("name"): question for question in told}}
        return (
            data | ({"ignore": self.ignore} if self.ignore else {}) | ({"weight": self.weight} if self.weight else {})
        )

    @classmethod
    def from_dict(cls, data: object) -> Schema:
        """Rebuild the schema that `to_dict` wrote."""
        example = "a schema looks like {'questions': {'age': {'kind': 'continuous'}}}"
        if not isinstance(data, Mapping) or not isinstance(data.get("questions"), Mapping):
            raise ValueError(f"it is no schema: it has no 'questions'; {example}")
        for key in data:
            if key not in ("questions", "ignore", "weight"):
                raise ValueError(f"it is no schema: {key!r} is neither 'questions' nor 'ignore' nor 'weight'")
        questions = []
        for name, question in data["questions"].items():
            if not isinstance(question, Mapping):
                raise ValueError(f"question {name!r}: {question!r} does not say what it asks; {example}")
            questions.append(question_from_dict({**question, "name": str(name)}))
        ignore, weight = data.get("ignore") or [], data.get("weight")
        if not isinstance(ignore, list) or isinstance(weight, (list, Mapping)):
            raise ValueError("it is no schema: 'ignore' must be a list of columns, and 'weight' one column")
        return cls(questions, [str(column) for column in ignore], None if weight is None else str(weight))

    def to_yaml(self, path: str | os.PathLike[str], remark: str = "") -> None:
        """Write the schema to a file that a person can read and edit; `remark` is put on top."""
        data = self.to_dict()
        lines = [f"# {line}\n" for line in remark.splitlines()]
        lines.append("questions:\n")
        for name, question in data.pop("questions").items():
            lines.append(f"  # {self.reasons[name]}\n" if name in self.reasons else "")
            told = {key: str(value).lower() if isinstance(value, bool) else value for key, value in question.items()}
            lines.append(yamltext.dump({name: told}, indent=2))
        for key, value in data.items():
            columns = value if key == "ignore" else [value]
            lines += [f"# {column}: {self.reasons[column]}\n" for column in columns if column in self.reasons]
            lines.append(yamltext.dump({key: value}))
        with written_whole(path) as file:
            file.write_text("".join(lines), encoding="utf-8")

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema from a file; only numbers are more than text, so that [no, yes] are two answers."""
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
        rows = [[q.name, q.kind, q.described, self.reasons.get(q.name, "")] for q in self.questions]
        text = aligned([["question", "kind", "values", "why" if self.reasons else ""], *rows])
        for column in self.ignore:
            text += f"ignored: {column}" + (f" ({self.reasons[column]})\n" if column in self.reasons else "\n")
        if self.weight:
            text += f"weight: {self.weight}" + (
                f" ({self.reasons[self.weight]})\n" if self.weight in self.reasons else "\n"
            )
        return text.rstrip("\n")

    def __repr__(self) -> str:
        lines = "".join(f"    {question!r},\n" for question in self.questions)
        more = (f", ignore={self.ignore!r}" if self.ignore else "") + (
            f", weight={self.weight!r}" if self.weight else ""
        )
        return f"Schema([\n{lines}]{more})"
