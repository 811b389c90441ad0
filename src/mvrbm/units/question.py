"""What every kind of question knows about its own side of the table: columns, values, codes and blanks."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mvrbm.units.block import Block

Value = str | int | float | bool
Cells = NDArray[Any]
Columns = Mapping[str, Cells]

# What a cell can be besides a value. An empty cell and a missing code differ only where an empty cell may be an answer.
BLANK, EMPTY, UNSEEN = -1, -2, -3


class Question(ABC):
    """A question of a survey: where its answers stand in the table and how they become codes.

    To add a kind: set `kind`; take `name`, `missing` and `asked_if` beside your own settings, each stored under
    the name it came with (or override `settings`); write `columns`, `n_values`, `n_codes` or `n_numbers`,
    `_encode` and `decode`; and `learn` if it has values. Copies, equality, repr and `to_dict` follow from these.
    """

    kind: ClassVar[str]
    values: list[Value] | None = None
    """What can be answered, in the order of the codes; None until given or learnt."""

    def __init__(self, name: str, *, missing: Iterable[Value] = (), asked_if: Mapping[str, Any] | None = None) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"a question's name must be a text that is not empty, not {name!r}")
        self.name = name
        self.missing = [plain(value) for value in self._list("missing", missing)]
        if asked_if is not None and (not isinstance(asked_if, Mapping) or not asked_if):
            raise self._error(f"asked_if must look like {{'other question': 'its value'}}, not {asked_if!r}")
        self.asked_if = plain(asked_if)

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

    def learn(self, columns: Columns) -> Self:
        """Make a copy whose values, where they were left out, are those found in the data."""
        return self._copy()

    def encode(self, columns: Columns, unseen: str = "error") -> Cells:
        """Read the answers as codes (int32, -1 is a blank) or numbers (float32, NaN is a blank), one row a person.

        With `unseen="missing"` a cell that the question does not allow counts as blank instead of raising.
        """
        if unseen not in ("error", "missing"):
            raise ValueError(f'unseen must be "error" or "missing", not {unseen!r}')
        return self._encode(columns, unseen)

    @abstractmethod
    def _encode(self, columns: Columns, unseen: str) -> Cells: ...

    @abstractmethod
    def decode(self, block: Cells) -> dict[str, Cells]:
        """Write the table's columns that say what a block of codes or numbers says; blanks are None or NaN."""

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
            raise ValueError(f"question {given.get('name')!r}: {wrong}; a {cls.kind} question takes {', '.join(takes)}")
        return cls(**given)

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

    def _list(self, setting: str, given: Iterable[Any]) -> list[Any]:
        if isinstance(given, (str, set, frozenset, Mapping)) or not isinstance(given, Iterable):
            raise self._error(f"{setting} must be a list, in its order, not {given!r}")
        return list(given)

    def _checked(self, values: Iterable[Any], least: int = 1) -> list[Value]:
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
        if len(plain_values) < least:
            raise self._error(f"a {self.kind} question needs at least {least} values; give them or leave it out")
        return plain_values

    def _learnt(self, found: Iterable[Value]) -> list[Value]:
        """Sort values found in the data: numbers first, then texts."""
        values = sorted(found, key=lambda value: (isinstance(value, str), value))
        if not values:
            raise self._error("the table holds no answer to learn its values from; give values=[...] or leave it out")
        return values

    def _refuse(self, wrong: Cells, array: Cells, column: str, what: str) -> None:
        """Raise an error that names the first wrong cell, if there is one."""
        for row in np.flatnonzero(wrong)[:1]:
            raise self._cell_error(array[row], int(row), column, what)

    def _settle(self, codes: Cells, array: Cells, column: str, unseen: str, what: str) -> Cells:
        """Make UNSEEN codes blank, or raise an error that names the first."""
        bad = codes == UNSEEN
        if unseen == "error":
            self._refuse(bad, array, column, what)
        return np.where(bad, BLANK, codes)

    def _check_texts(self, values: Iterable[Value], *signs: str) -> None:
        """Make sure that a cell of values joined by the signs can be taken apart again."""
        for value in values:
            text = str(value)
            if not text or text != text.strip() or any(sign in text for sign in signs):
                signs_shown = " or ".join(map(repr, signs))
                raise self._error(f"its value {value!r} is empty, edged by spaces or holds {signs_shown}; rename it")

    def _known_parts(self, parts: Iterable[str], table: Mapping[str, int], unseen: str) -> list[int]:
        """Look up the values that a text cell names; what is unseen or a missing code is left out."""
        known = []
        for part in parts:
            if part in table:
                known.append(table[part])
            elif unseen == "error" and part not in map(str, self.missing):
                raise WrongPartError(part, self._not_among)
        return known

    def _read_texts(self, columns: Columns, empty: Cells, read: Callable[[Any], Cells]) -> Cells:
        """Apply `read` to the text column, once for each distinct text."""
        places, cells = factorize(columns[self.columns[0]])
        rows = [empty]
        for number, cell in enumerate(cells):
            try:
                rows.append(read(cell))
            except WrongPartError as wrong:
                row = int((places == number).argmax())
                raise self._cell_error(wrong.value, row, self.columns[0], wrong.what) from None
        return np.array(rows)[places + 1]

    @property
    def _not_among(self) -> str:
        return f'is not among its {self.n_values} values; add it to the schema or set unseen="missing"'

    def _positive_or_learn(self, setting: str, given: float | str | None) -> float | str | None:
        if given not in (None, "learn") and (isinstance(given, str | bool) or not 0 < float(given or 0) < np.inf):
            raise self._error(f'{setting} must be None, "learn" or a positive number, not {given!r}')
        return given


class WrongPartError(Exception):
    """A part of a text cell that cannot be read; whoever knows the row turns it into an error for the user."""

    value = property(lambda self: self.args[0])
    what = property(lambda self: self.args[1])


def plain(value: Any) -> Any:
    """Turn a value into Python data: numpy scalars unpacked, 1.0 as 1; lists and mappings copied element by element."""
    if isinstance(value, Mapping):
        return {key: plain(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(element) for element in value]
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def factorize(array: Cells) -> tuple[NDArray[np.intp], list[Any]]:
    """Find each cell's place in the list of distinct values (-1 for an empty cell), and that list."""
    import pandas as pd

    try:
        places, found = pd.factorize(array)
    except TypeError:  # some cell cannot be hashed
        row, cell = next((row, cell) for row, cell in enumerate(array) if not isinstance(cell, Hashable))
        raise ValueError(f"cell {cell!r} (row {row}) is neither a text nor a number; join lists into texts") from None
    return places, found.tolist()


def distinct(array: Cells, missing: Sequence[Value]) -> list[Value]:
    """List the distinct values of a column, without blanks, in order of appearance."""
    return [plain(value) for value in factorize(array)[1] if value not in missing]


def match(array: Cells, table: Mapping[Any, int], missing: Sequence[Value]) -> NDArray[np.int32]:
    """Code each cell: BLANK for a missing code, EMPTY for an empty cell, UNSEEN for what is not in the table.

    Numbers match by value (1.0 is 1 and True), texts match texts.
    """
    places, found = factorize(array)
    codes = [BLANK if value in missing else table.get(value, UNSEEN) for value in found]
    return np.array([*codes, EMPTY], dtype=np.int32)[places]


def lookup(codes: Cells, values: Sequence[object], blank: object = None) -> Cells:
    """Look up the value of each code, `blank` for -1."""
    table = np.empty(len(values) + 1, dtype=object)
    table[:-1] = values
    table[-1] = blank
    return table[codes]


def distinct_rows(block: Cells) -> tuple[Cells, Cells]:
    """Find the distinct rows of a block of small whole numbers, and each row's place among them."""
    places: Cells = np.zeros(len(block), dtype=np.int64)
    for column in block.T:  # one column at a time is ten times as fast as np.unique(axis=0)
        first, places = np.unique(places * (block.max(initial=0) + 2) + column, return_index=True, return_inverse=True)[
            1:
        ]
    return block[first], places


def split(cell: object, sign: str) -> list[str]:
    """List the parts of a text cell, without spaces around them and without empty parts."""
    parts = (part.strip() for part in str(plain(cell)).split(sign))
    return [part for part in parts if part]


def to_numbers(array: Cells, missing: Sequence[Value]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Turn each cell into a number (NaN if blank) and say which are none; texts such as "12.5" count as numbers."""
    if array.dtype.kind in "biuf":
        numbers, bad = array.astype(np.float64), np.zeros(len(array), dtype=bool)
    else:
        places, found = factorize(array)
        parsed = [np.nan if value in missing else _number(value) for value in found]
        bad = np.array([*(number is None for number in parsed), False])[places]
        numbers = np.array([*(np.nan if number is None else number for number in parsed), np.nan])[places]
    codes = [value for value in missing if not isinstance(value, str)]
    if codes:
        numbers[np.isin(numbers, codes)] = np.nan
    return numbers, bad


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    # Python reads "nan" and "1_000" as numbers; in a survey they are texts that someone should look at.
    return None if number != number or (isinstance(value, str) and "_" in value) else number
