"""What every kind of question knows about its own side of the table: columns, values, codes and blanks."""

from __future__ import annotations

import difflib
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm.cells import (
    BLANK,
    EMPTY,
    Book,
    CellError,
    Cells,
    Value,
    codebook,
    factorize,
    first_rows,
    is_blank,
    match,
    plain,
    read,
    some,
)
from mvrbm.units.view import View

if TYPE_CHECKING:
    from mvrbm.units.block import Block

Columns = Mapping[str, Cells]


class Question(ABC):
    """A question of a survey: where its answers stand in the table and how they become codes.

    To add a kind: set `kind`; take `name`, `missing`, `asked_if`, `label` and `labels` beside your own settings, each
    stored under the name it came with (or override `settings`); write `columns`, `n_values`, `n_codes` or `n_numbers`,
    `_encode` and `decode`; and `_learn` if it has values. Copies, equality, repr and `to_dict` follow from these. For
    the report: `spoken`, `error_means`, `tell`, `views` and `events`.
    """

    kind: ClassVar[str]
    spoken: ClassVar[str]
    """The kind in plain words, of several questions: "yes/no questions"."""
    measure: ClassVar[str] = "nominal"
    """What SPSS calls the level of its measure: "nominal", "ordinal" or "scale"."""
    loss: ClassVar[str] = "wrong"
    """What a guess loses by: whether it is "wrong", or its "absolute" or "squared" distance."""
    error_means: ClassVar[str] = "of the answers are wrong"
    """What an error in per cent says of answers of this kind."""
    least: ClassVar[int] = 1
    """The fewest values that make it a question."""
    values: list[Value] | None = None
    """What can be answered, in the order of the codes; None until given or learnt."""

    def __init__(
        self,
        name: str,
        *,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
        label: str = "",
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"a question's name must be a text that is not empty, not {name!r}")
        self.name = name
        codes = [missing] if isinstance(missing, (str, int, float)) else missing
        self.missing = [plain(code) for code in self._list("missing", codes) if not is_blank(code)]
        self._refuse_odd("missing", self.missing)
        if asked_if is not None and (not isinstance(asked_if, Mapping) or not asked_if):
            raise self._error(f"asked_if must look like {{'other question': 'its value'}}, not {asked_if!r}")
        self.asked_if = plain(asked_if)
        for wanted in (self.asked_if or {}).values():
            self._refuse_odd("asked_if", wanted if isinstance(wanted, list) else [wanted])
        self.label = str(label)
        if labels is not None and not isinstance(labels, Mapping):
            raise self._error(f"labels must look like {{value: 'what it stands for'}}, not {labels!r}")
        self._refuse_odd("labels", labels or ())
        self.labels = {plain(value): str(text) for value, text in (labels or {}).items()} or None

    @property
    @abstractmethod
    def block(self) -> type[Block]:
        """The model's side of the type: how answers of this kind get their probabilities."""

    @property
    def columns(self) -> list[str]:
        """The table's columns that the question reads."""
        return [self.name]

    @property
    def known_values(self) -> list[Value]:
        """The values; an error while they are neither given nor learnt."""
        if self.values is None:
            raise self._error("its values are not known yet; give values=[...] or learn them from a table")
        return self.values

    @property
    def value_names(self) -> list[str]:
        """What each value stands for: its label, or the value itself."""
        return [self.name_of(value) for value in self.known_values]

    def name_of(self, value: Value) -> str:
        """What a value stands for: its label, or the value itself."""
        return str((self.labels or {}).get(value, value))

    @property
    def n_values(self) -> int:
        """How many values, options or items it has; 1 for a number."""
        return len(self.known_values)

    @property
    def n_codes(self) -> int:
        """How many columns of codes its answers take."""
        return 1

    @property
    def n_numbers(self) -> int:
        """How many columns of numbers its answers take."""
        return 0

    @property
    def fractions(self) -> bool:
        """Whether an answer may be a number that is not whole, though no column of the table has one."""
        return False

    @property
    def described(self) -> str:
        """The values in a few words, for a table of questions."""
        if self.values is None:
            return "those of the table"
        return some([self.labels.get(value, value) if self.labels else value for value in self.values], 6)

    def feature_names(self, n: int) -> list[Any]:
        """Name the features by which the model sees an answer: the values, where there is one for each."""
        values = list(self.values or ())
        return (
            values if len(values) == n else values[-1:] if n == 1 and values else [f"{place + 1}" for place in range(n)]
        )

    def learn(self, columns: Columns) -> Self:
        """Make a copy whose values, where they were left out, are those found in the data."""
        with self._named():
            return self._learn(columns)

    def _learn(self, columns: Columns) -> Self:
        return self._copy()

    def telling(self, columns: Columns) -> NDArray[np.intp]:
        """Find rows that are enough to learn from: what `learn` makes of these, it makes of all."""
        with self._named():
            return self._telling(columns)

    def _telling(self, columns: Columns) -> NDArray[np.intp]:
        return np.concatenate([first_rows(cells) for cells in columns.values()])

    def encode(self, columns: Columns, unseen: str = "error") -> Cells:
        """Read the answers as codes (int32, -1 is a blank) or numbers (float32, NaN is a blank), one row a person.

        With `unseen="missing"` a cell that the question does not allow counts as blank instead of raising.
        """
        if unseen not in ("error", "missing"):
            raise ValueError(f'unseen must be "error" or "missing", not {unseen!r}')
        with self._named():
            return self._encode(columns, unseen)

    @abstractmethod
    def _encode(self, columns: Columns, unseen: str) -> Cells: ...

    @abstractmethod
    def decode(self, block: Cells, like: Columns | None = None) -> dict[str, Cells]:
        """Write the table's columns that say what a block of codes or numbers says; blanks are None or NaN.

        `like` are columns of the table that is written to: where they say a value in their own way (as a text,
        as a label), it is said so.
        """

    def empty_cells(self, columns: Columns) -> dict[str, NDArray[np.bool_]]:
        """Find the cells that hold nothing, or a code that means blank: those that may be filled."""
        book = codebook((), self.missing)
        codes = {name: match(cells, book) for name, cells in columns.items()}
        return {name: (own == BLANK) | (own == EMPTY) for name, own in codes.items()}

    @abstractmethod
    def tell(self, block: Cells) -> list[str]:
        """Say the answer of each row of a block in words; "" where there is none."""

    @abstractmethod
    def views(self, block: Cells) -> list[View]:
        """Ways to colour people by their answers, the plainest first; a level or a number for each row of a block."""

    @abstractmethod
    def events(self, block: Cells, chances: Cells) -> tuple[Cells, Cells]:
        """What was said of each row by the model's `chances`, as probabilities, and whether it happened.

        Both are (rows, events); 1 is that it happened, 0 that it did not, NaN that nobody knows.
        """

    def says(self, block: Cells, value: Value) -> NDArray[np.bool_]:
        """Find the rows of a block in which the answer is (or has among its choices) a value."""
        raise self._error(f"a skip rule cannot ask what a {self.kind} question says; ask another question")

    def without_rule(self) -> Self:
        """Make a copy without its skip rule."""
        return self._copy(asked_if=None)

    def with_missing(self, code: Value) -> Self:
        """Make a copy with one more code that means blank, before the others."""
        return self._copy(missing=[code, *self.missing])

    def to_numbers(self, block: Cells) -> NDArray[np.float64]:
        """Say a block as columns of numbers, for tools that know no types; NaN is a blank."""
        return np.where(block < 0, np.nan, block.astype(np.float64))

    def from_numbers(self, columns: NDArray[np.float64]) -> Cells:
        """Find the block of answers that is nearest to such columns: rounded, and within the scale."""
        return np.clip(np.rint(columns), 0, self.n_values - 1).astype(np.int32)

    def settings(self) -> dict[str, Any]:
        """List every setting by the name under which the constructor takes it."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def to_dict(self) -> dict[str, Any]:
        """List the kind, the name and every setting that is not at its default, as plain data."""
        return {"kind": self.kind, **plain(self._told())}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild the question that `to_dict` wrote."""
        given = {key: value for key, value in data.items() if key != "kind"}
        takes = inspect.signature(cls).parameters
        unknown = [key for key in given if key not in takes]
        if unknown or "name" not in given or data.get("kind", cls.kind) != cls.kind:
            wrong = f"unknown setting {unknown[0]!r}" if unknown else "a wrong kind or no name"
            near = difflib.get_close_matches(str(unknown[0]), takes, n=1) if unknown else []
            instead = f"did you mean {near[0]!r}?" if near else f"a {cls.kind} question takes {', '.join(takes)}"
            raise ValueError(f"question {given.get('name')!r}: {wrong}; {instead}")
        return cls(**given)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the question's name before what is said of a cell."""
        try:
            yield
        except CellError as error:
            raise self._error(str(error)) from None

    def _told(self) -> dict[str, Any]:
        defaults = {key: parameter.default for key, parameter in inspect.signature(type(self)).parameters.items()}
        return {key: value for key, value in self.settings().items() if value not in (defaults[key], [])}

    def _copy(self, **changes: Any) -> Self:
        return type(self)(**{**self.settings(), **changes})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # settings are lists that a person may edit

    def __repr__(self) -> str:
        told = self._told()
        return f"{type(self).__name__}({', '.join([repr(told.pop('name')), *(f'{k}={v!r}' for k, v in told.items())])})"

    def _error(self, what: str) -> ValueError:
        return ValueError(f"question {self.name!r}: {what}")

    def _cell_error(self, value: object, row: int, column: str, what: str) -> ValueError:
        where = f"row {row}" if column == self.name else f"row {row}, column {column!r}"
        return self._error(f"value {plain(value)!r} ({where}) {what}")

    def _refuse_odd(self, setting: str, values: Iterable[Any]) -> None:
        for value in values:
            if not isinstance(plain(value), Value):
                raise self._error(f"{setting} can hold texts and numbers, not {value!r}")

    def _list(self, setting: str, given: Iterable[Any]) -> list[Any]:
        if isinstance(given, (str, set, frozenset, Mapping)) or not isinstance(given, Iterable):
            raise self._error(f"{setting} must be a list such as [a, b], not {given!r}")
        return list(given)

    def _checked(self, values: Iterable[Any]) -> list[Value]:
        """Take values as plain data, once it is sure that each can be told from the others and from a blank."""
        plain_values = [plain(value) for value in self._list("values", values)]
        seen: set[Value] = set()
        for value in plain_values:
            if not isinstance(value, Value) or value != value:
                raise self._error(f"its value {value!r} is neither a text nor a number; recode it")
            if value in seen:
                raise self._error(f"its value {value!r} is listed twice; list it once")
            seen.add(value)
            if value in self.missing:
                raise self._error(f"{value!r} is both a value and a missing code; keep one of the two")
        if len(plain_values) < self.least:
            needs = f"a {self.kind} question needs at least {self.least} values, not {plain_values}"
            raise self._error(f"{needs}; give them or leave it out")
        return plain_values

    def _learnt(self, found: Iterable[Value], columns: Columns) -> list[Value]:
        """Sort values found in the columns, once it is sure that they are of one sort and tell people apart."""
        values = list(found)
        if not values:
            raise self._error("the table holds no answer to learn its values from; give values=[...] or leave it out")
        for value in values:
            if not isinstance(value, Value):
                raise self._cell_error(value, *self._find(value, columns), "is neither a text nor a number; recode it")
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) not in (0, len(values)):
            number = next(value for value in values if not isinstance(value, str))
            mixed = f"is a text beside numbers such as {number!r}"
            way_out = "recode it, list it in missing=[...] or give values=[...]"
            raise self._cell_error(texts[0], *self._find(texts[0], columns), f"{mixed}; {way_out}")
        if len(values) == 1 and self.least > 1:
            raise self._error(f"every answer is {values[0]!r}; leave it out (ignore) or give values=[...]")
        return sorted(values)

    def _find(self, value: Value, columns: Columns) -> tuple[int, str]:
        """Find the first row with a value, and its column."""
        here = {column: match(cells, {value: 0}) == 0 for column, cells in columns.items()}
        column = next(column for column, rows in here.items() if rows.any())
        return int(here[column].argmax()), column

    def _refuse(self, wrong: Cells, cells: Cells, column: str, what: str) -> None:
        """Raise an error that names the first wrong cell, if there is one."""
        rows = np.flatnonzero(wrong)
        if len(rows):
            raise self._cell_error(cells[rows[0]], int(rows[0]), column, what + _more(len(rows)))

    def _settle(self, wrong: Cells, cells: Cells, column: str, unseen: str, what: str) -> None:
        """Refuse wrong cells, or say how many are taken as blank."""
        if unseen == "error":
            self._refuse(wrong, cells, column, what)
        elif wrong.any():
            row = int(wrong.argmax())
            self._warn_unseen(int(wrong.sum()), cells[row], row, column)

    def _warn_unseen(self, n: int, value: object, row: int, column: str) -> None:
        where = "" if column == self.name else f" of column {column!r}"
        cells = "1 cell" if n == 1 else f"{n} cells"
        said = f"{cells}{where} not allowed and taken as blank, the first is {plain(value)!r} (row {row})"
        self._warn(said)

    def _warn(self, said: str) -> None:
        warnings.warn(f"question {self.name!r}: {said}", UserWarning, stacklevel=2)

    def _check_texts(self, values: Iterable[Value], *signs: str) -> None:
        """Make sure that a cell of values joined by the signs can be taken apart again."""
        for value in values:
            text = str(value)
            if not text or text != text.strip() or any(sign in text for sign in signs):
                signs_shown = " or ".join(map(repr, signs))
                raise self._error(f"its value {value!r} is empty, edged by spaces or holds {signs_shown}; rename it")

    def _read_texts(self, cells: Cells, empty: Cells, unseen: str, read: Callable[[Any], tuple[Cells, Any]]) -> Cells:
        """Read a column of texts, each distinct one once: `read` gives its codes and a part that is not known, if any.

        Empty cells get the codes of `empty`.
        """
        column = self.columns[0]
        places, texts = factorize(cells)
        rows, unknown = [empty], []
        for number, text in enumerate(texts):
            try:
                codes, part = read(text)
            except WrongPartError as wrong:
                row = int((places == number).argmax())
                raise self._cell_error(wrong.value, row, column, wrong.what) from None
            rows.append(codes)
            unknown += [] if part is None else [(number, part)]
        if unknown:
            bad = np.isin(places, [number for number, _ in unknown])
            row = int(bad.argmax())
            self._settle_part(int(bad.sum()), dict(unknown)[places[row]], row, unseen)
        return np.array(rows)[places + 1]

    def _settle_part(self, n: int, part: object, row: int, unseen: str) -> None:
        """Refuse a part of a cell that is not known, or say in how many cells such parts are left out."""
        if unseen == "error":
            raise self._cell_error(part, row, self.columns[0], self._not_among(part) + _more(n))
        self._warn_unseen(n, part, row, self.columns[0])

    @property
    def _book(self) -> Book:
        """Which code each cell of a listed value means."""
        return codebook(self.known_values, self.missing, self.labels)

    def _code_asked_for(self, value: Value) -> int:
        """Find the code of a value that a skip rule names."""
        code = read(value, self._book)
        if code < 0:
            raise self._error(f"a skip rule asks for {value!r}, which {self._not_among(value)}")
        return code

    def _not_among(self, value: Any) -> str:
        """Say that a value is not known, which are, and what to do."""
        values = [*self.known_values, *(self.labels or {}).values()]
        what = f'is not among its {self.n_values} values; add it to the schema or set unseen="missing"'
        what += ", or list it in missing=[...] if it means blank"
        alike = [known for known in values if str(known).strip().lower() == str(value).strip().lower()]
        near = alike or difflib.get_close_matches(str(value), [str(known) for known in values], n=1, cutoff=0.8)
        mean = f"did you mean {near[0]!r}?" if near else f"they are {self.described}"
        return f"{what}; {mean}"

    def _column(self, setting: str, name: object) -> str:
        """Take the name of a column, which a file may have as a number."""
        if isinstance(name, bool) or not isinstance(name, (str, int)):
            raise self._error(f"{setting} must name columns, not {name!r}")
        return str(name)

    def _flag(self, setting: str, given: object) -> bool:
        """Take true or false, which a file has as a text."""
        flags = {"true": True, "yes": True, "false": False, "no": False}
        if str(given).lower() not in flags:
            raise self._error(f"{setting} must be true or false, not {given!r}")
        return flags[str(given).lower()]

    def _columns(self, setting: str, given: object) -> dict[Value, str] | None:
        """Take {option: column}, or a list of columns whose names are the options."""
        if given is None:
            return None
        if isinstance(given, (list, tuple)):
            given = {str(column): column for column in given}
        if not isinstance(given, Mapping):
            raise self._error(f"{setting} must look like {{option: column}}, not {given!r}")
        return {plain(option): self._column(setting, column) for option, column in given.items()}

    def _positive_or_learn(self, setting: str, given: float | str | None) -> float | str | None:
        number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if given not in (None, "learn") and not (number and 0 < float(given) < np.inf):
            raise self._error(f'{setting} must be None, "learn" or a positive number, not {given!r}')
        return given if isinstance(given, str) else plain(given)


class WrongPartError(Exception):
    """A part of a text cell that cannot be read; whoever knows the row turns it into an error for the user."""

    value = property(lambda self: self.args[0])
    what = property(lambda self: self.args[1])


def _more(n: int) -> str:
    return f"; {n - 1} more rows are like this" if n > 2 else "; one more row is like this" if n == 2 else ""
