"""The schema of a survey: its questions, what to ignore, and the weight of a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mvrbm.encoding import count_rows, read_columns
from mvrbm.units import KINDS, Question

if TYPE_CHECKING:
    import pandas as pd


class Schema:
    """The questions of a survey, in order.

    Columns of the table that no question names are ignored; `ignore` lists some of them by name, for the record.
    `weight` is the column with the weight of each row.

    >>> from mvrbm.units import Binary, Continuous
    >>> schema = Schema([Binary("satisfied", values=["no", "yes"]), Continuous("age")], weight="w")
    >>> schema["age"], len(schema), schema.names
    (Continuous('age'), 2, ['satisfied', 'age'])
    """

    def __init__(self, questions: Iterable[Question], ignore: Iterable[str] = (), weight: str | None = None) -> None:
        if isinstance(questions, Question) or isinstance(ignore, str):
            raise ValueError("a schema takes a list of questions and a list of columns to ignore")
        self.questions = list(questions)
        self.ignore = list(ignore)
        self.weight = weight
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
            for name in question.asked_if or ():
                if name not in self.names or name == question.name:
                    raise ValueError(f"question {question.name!r}: asked_if names {name!r}, which is no other question")

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

    def learn(self, frame: pd.DataFrame) -> Schema:
        """Make a copy in which the values that were left out are those found in the table."""
        count_rows(frame)
        learnt = [question.learn(read_columns(frame, question)) for question in self.questions]
        return Schema(learnt, ignore=self.ignore, weight=self.weight)

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

    def __repr__(self) -> str:
        lines = "".join(f"    {question!r},\n" for question in self.questions)
        more = (f", ignore={self.ignore!r}" if self.ignore else "") + (
            f", weight={self.weight!r}" if self.weight else ""
        )
        return f"Schema([\n{lines}]{more})"
