"""A guess at what each column of a table asks, with the reason."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvrbm.cells import some
from mvrbm.encoding import count_rows
from mvrbm.infer.alone import Decided, advice, decide
from mvrbm.infer.column import Column, read_column
from mvrbm.infer.groups import as_nominal, find_groups, from_set
from mvrbm.infer.kinds import CannotBeError, as_kind
from mvrbm.infer.rankings import Group
from mvrbm.notes import ColumnNotes, Notes
from mvrbm.tables import Table
from mvrbm.units import KINDS, Question, question_from_dict

AS_YOU_SAID = "as you said"
_WORDS = [*(kind.kind for kind in KINDS), "ignore", "weight"]
_WEIGHT = re.compile(r"(.*[^a-z])?(weights?|wts?|wgt|w8|pweight|weightvec|gewicht)([^a-z].*)?|w", re.I)
_BODY = re.compile(r"kg|lbs?|body|birth|height|loss|gain|pounds|kilos?|bmi", re.I)


@dataclass
class Guess:
    """What was decided: questions, columns set aside, the weight; and why, by the name of each."""

    questions: list[Question] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    weight: str | None = None
    reasons: dict[str, str] = field(default_factory=dict)
    advice: list[str] = field(default_factory=list)
    """What to say where the guess is in doubt."""


Said = Question | str | Mapping[str, Any]


def guess(table: Table, overrule: Mapping[str, Said], missing: list[Any], notes: Notes, counts: bool = False) -> Guess:
    """Guess the questions of a table; `counts` says whether there may be some among them."""
    count_rows(table)
    guesser = _Guesser(table, overrule, missing, notes, counts)
    guesser.take_what_is_said()
    guesser.take_weight()
    guesser.take_sets()
    guesser.take_groups()
    guesser.take_columns()
    return guesser.result()


class _Guesser:
    """The state of a guess: which columns are left, and what was decided so far."""

    def __init__(
        self, table: Table, overrule: Mapping[str, Said], missing: list[Any], notes: Notes, counts: bool
    ) -> None:
        self.table = table
        self.overrule = {str(name): said for name, said in overrule.items()}
        for name, said in self.overrule.items():
            _check_said(name, said)
        self.missing = missing
        self.notes = notes
        self.counts = counts
        self.guess = Guess()
        self.left = dict.fromkeys(table.names)
        self.read: dict[str, Column] = {}
        self.groups: list[str] = []

    def column(self, name: str) -> Column:
        if name not in self.read:
            told = self.notes.columns.get(name, ColumnNotes())
            codes = [*self.missing, *self._settings(name).get("missing", [])]
            self.read[name] = read_column(self.table, name, codes, told)
        return self.read[name]

    def _settings(self, name: str) -> dict[str, Any]:
        """List the settings that were given for a column or a question, besides its kind."""
        said = self.overrule.get(name)
        return {key: value for key, value in said.items() if key != "kind"} if isinstance(said, Mapping) else {}

    def columns(self) -> list[Column]:
        return [self.column(name) for name in self.left]

    def ask(self, question: Question, reason: str) -> None:
        settings = self._settings(question.name)
        if settings:
            question = question_from_dict({**question.to_dict(), **settings})
            reason = f"{AS_YOU_SAID}; {reason}" if reason != AS_YOU_SAID else reason
        self.guess.questions.append(question)
        self.guess.reasons[question.name] = reason
        for name in question.columns:
            self.left.pop(name, None)

    def ignore(self, name: str, reason: str) -> None:
        self.guess.ignore.append(name)
        self.guess.reasons[name] = reason
        self.left.pop(name, None)

    def weigh(self, name: str, reason: str) -> None:
        if self.guess.weight is not None:
            both = f"{self.guess.weight!r} and {name!r}"
            raise ValueError(f"overrule: {both} are both to be the weight; keep one and ignore the other")
        self.guess.weight = name
        self.guess.reasons[name] = reason
        self.left.pop(name, None)

    # What someone knows better.

    def take_what_is_said(self) -> None:
        """Settle the columns that were overruled; names that are no column may yet be a group."""
        for name, said in self.overrule.items():
            if isinstance(said, Question):
                self._take_question(name, said)
        for name, said in self.overrule.items():
            if isinstance(said, str) and name in self.table:
                self._take_word(name, said)
            if isinstance(said, Mapping) and name in self.table:
                if "kind" in said:
                    self._take_word(name, said["kind"])
                else:
                    self.take_column(self.column(name))

    def _take_question(self, name: str, question: Question) -> None:
        for column in question.columns:
            if column not in self.table:
                self.table.cells(column, f"overrule {name!r}")  # its error says what is wrong
        if name in self.table and name != question.name and name not in question.columns:
            raise ValueError(f"overrule {name!r}: {question!r} does not read the column {name!r}; name what it reads")
        if not question.missing and self.missing:
            read = [self.column(column) for column in question.columns]
            codes = [code for column in read for code in column.missing if code not in (question.values or ())]
            question = question_from_dict({**question.to_dict(), "missing": list(dict.fromkeys(codes))})
        self.ask(question, AS_YOU_SAID)

    def _take_word(self, name: str, word: str) -> None:
        if name not in self.left:
            raise ValueError(
                f"overrule {name!r}: another question that you gave reads this column; keep one of the two"
            )
        if word == "ignore":
            self.ignore(name, AS_YOU_SAID)
        elif word == "weight":
            self.weigh(name, AS_YOU_SAID)
        else:
            self._take_kind(name, word)

    def _take_kind(self, name: str, kind: str) -> None:
        try:
            self.ask(as_kind(self.column(name), kind), AS_YOU_SAID)
        except CannotBeError as error:
            raise ValueError(f"overrule {name!r}: the column cannot be {kind}: {error}") from None

    # What is guessed.

    def take_weight(self) -> None:
        """Take the column that looks like the weight of each row; more of them are set aside."""
        for column in self.columns():
            if _is_weight(column) and not self._is_body(column):
                if column.n_answered < column.n_rows:
                    self.ignore(column.name, "named like a weight, but blank in some rows")
                elif self.guess.weight is None:
                    self.weigh(column.name, "numbers in every row, named like a weight")
                else:
                    self.ignore(column.name, f"a second weight, beside {self.guess.weight!r}")

    def _is_body(self, column: Column) -> bool:
        """Tell whether a weight is one of kilograms or pounds."""
        if _BODY.search(column.name) or any(re.search("height", name, re.I) for name in self.table.names):
            return True
        numbers = column.numbers if column.numbers is not None else np.zeros(1)
        return bool(numbers.min() > 20 and numbers.max() < 700)

    def take_sets(self) -> None:
        """Take the multiple-response sets that the file describes."""
        for told in self.notes.sets:
            columns = [self.column(name) for name in told.columns if name in self.left]
            if not columns:
                continue
            found = from_set(told, columns, self.table.names, self._names())
            if isinstance(found, Group):
                self.take_group(found)
                continue
            for column in columns:
                self.take_column(as_nominal(column) if told.counted is None else column, f"; {found}")

    def take_groups(self) -> None:
        """Take the questions that stand in several columns, then tell which names are nothing at all."""
        for group in find_groups(self.columns(), self.table, self._names()):
            self.take_group(group)
        known = [*self.table.names, *self.groups]
        for name, said in self.overrule.items():
            if name not in known and not isinstance(said, Question):
                raise ValueError(f"overrule {name!r}: {_no_such(name, known)}")

    def take_group(self, group: Group) -> None:
        question = group.question
        self.groups.append(question.name)
        said = self.overrule.get(question.name)
        said = said.get("kind") if isinstance(said, Mapping) else said
        if said is None or said == question.kind:
            self.ask(question, group.reason if said is None else AS_YOU_SAID)
            return
        if said == "weight":
            raise ValueError(
                f"overrule {question.name!r}: {len(question.columns)} columns cannot be the weight; name one"
            )
        for name in question.columns:
            self._take_word(name, str(said))

    def take_columns(self) -> None:
        """Decide on each column that is left by itself."""
        for column in self.columns():
            self.take_column(column)

    def take_column(self, column: Column, more: str = "") -> None:
        try:
            decided = decide(column, self.counts)
        except ValueError as error:  # cells that no kind of question can have
            decided = Decided(None, str(error))
        if decided.question is None:
            self.ignore(column.name, decided.reason + more)
        else:
            self.ask(decided.question, decided.reason + more)

    def _names(self) -> list[str]:
        return [question.name for question in self.guess.questions]

    def result(self) -> Guess:
        """Put what was decided in the order of the table."""
        guess = self.guess
        if not guess.questions:
            why = "; ".join(f"{name!r}: {guess.reasons[name]}" for name in self.table.names)
            raise ValueError(f"no column of the table is left to ask; overrule what is wrong here: {why}")
        place = {name: number for number, name in enumerate(self.table.names)}
        guess.questions.sort(key=lambda question: min(place[name] for name in question.columns))
        guess.ignore.sort(key=lambda name: place[name])
        guess.advice = advice([self.read[q.name] for q in guess.questions if q.name in self.read])
        return guess


def _check_said(name: str, said: object) -> None:
    if isinstance(said, Mapping):
        said = said.get("kind", _WORDS[0])
    if isinstance(said, Question) or said in _WORDS:
        return
    near = difflib.get_close_matches(str(said), _WORDS, n=1)
    instead = f"did you mean {near[0]!r}?" if near else f"say one of {some(_WORDS)} or give a question"
    raise ValueError(f"overrule {name!r}: {said!r} is no kind of question; {instead}")


def _no_such(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    near = near or [other for other in known if name.lower() in other.lower()][:3]
    instead = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {some(known, 10)}"
    return f"there is no such column, nor a question of several columns; {instead}"


def _is_weight(column: Column) -> bool:
    if column.trouble or column.numbers is None or column.texts or not _WEIGHT.fullmatch(column.name):
        return False
    varied = column.n_different > 1 and not column.whole
    return varied and bool((column.numbers >= 0).all() and (column.numbers > 0).any())
