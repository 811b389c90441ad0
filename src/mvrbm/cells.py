"""The cells of a column: distinct values and their places, numbers, lists; whatever library the column came from."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = str | int | float | bool
Book = dict[Any, int]
Cells = Any
"""The cells of a column: a NumPy array or one of pandas' extension arrays."""

LISTS = (list, tuple, set, frozenset, np.ndarray)
# What a cell can be besides a value. An empty cell and a missing code differ only where an empty cell may be an answer.
BLANK, EMPTY, UNSEEN = -1, -2, -3
_FEW = 32  # cells for which pandas takes longer to begin than Python to end


class CellError(ValueError):
    """A cell that cannot be read; the question that reads it adds its name."""


def some(values: Iterable[object], most: int = 8) -> str:
    """List values for a message, the first few of them.

    >>> some([1, "b", 3], most=2)
    "1, 'b', ..."
    """
    listed = list(values)
    return ", ".join(map(repr, listed[:most])) + (", ..." if len(listed) > most else "")


def aligned(rows: Sequence[Sequence[str]], most: int = 60) -> str:
    """Set rows of words as a table, each column as wide as its longest word (at most `most`).

    >>> print(aligned([["name", "kind"], ["age", "number"]]), end="")
    name  kind
    age   number
    """
    cut = [[_cut(word, most) for word in row[:-1]] + [row[-1]] for row in rows]
    width = [max(len(row[place]) for row in cut) for place in range(len(cut[0]))]
    lines = ("  ".join(word.ljust(width[place]) for place, word in enumerate(row)).rstrip() for row in cut)
    return "".join(f"{line}\n" for line in lines)


def _cut(word: str, most: int) -> str:
    """Leave out the middle: the end is what tells the options of a long question apart."""
    return word if len(word) <= most else f"{word[: most // 2]}...{word[3 - most // 2 :]}"


def plain(value: Any) -> Any:
    """Turn a value into Python data: numpy scalars unpacked, 1.0 as 1; lists and mappings copied element by element."""
    if isinstance(value, Mapping):
        return {key: plain(element) for key, element in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(element) for element in value]
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def factorize(cells: Cells) -> tuple[NDArray[np.intp], list[Any]]:
    """Find each cell's place in the list of distinct values (-1 for an empty cell), and that list."""
    import pandas as pd

    try:
        if len(cells) <= _FEW:
            return _factorize_few(cells)
        places, found = pd.factorize(cells)
    except (TypeError, ValueError, NotImplementedError):  # lists and records, in the words of pandas or of Arrow
        kinds = (*LISTS, dict)
        row, cell = next(((row, cell) for row, cell in enumerate(cells) if isinstance(cell, kinds)), (0, cells[0]))
        raise CellError(f"cell {cell!r} (row {row}) is neither a text nor a number; recode it") from None
    values = found.tolist()
    for place, value in enumerate(values):
        if value != value:  # Arrow tells a NaN from an empty cell
            places = np.where(places == place, -1, places)
    return places, values


def _factorize_few(cells: Cells) -> tuple[NDArray[np.intp], list[Any]]:
    import pandas as pd

    arrow = isinstance(cells, pd.arrays.ArrowExtensionArray)  # pandas would take ten times as long to list these
    listed = cells.__arrow_array__().to_pylist() if arrow else cells.tolist()
    found: dict[Any, int] = {}
    places = [-1 if is_blank(cell) or cell != cell else found.setdefault(cell, len(found)) for cell in listed]
    return np.array(places, dtype=np.intp), list(found)


def first_rows(cells: Cells) -> NDArray[np.intp]:
    """Find the first row of each distinct cell, an empty one included.

    >>> first_rows(np.array(["a", None, "a", "b"], dtype=object))
    array([0, 1, 3])
    """
    places, found = factorize(cells)
    first = np.full(len(found) + 1, -1)
    first[places[::-1]] = np.arange(len(places))[::-1]
    return np.sort(first[first >= 0])


def lookup(codes: NDArray[Any], values: Sequence[object], blank: object = None) -> NDArray[Any]:
    """Look up the value of each code, `blank` for -1.

    >>> lookup(np.array([1, -1]), ["no", "yes"])
    array(['yes', None], dtype=object)
    """
    table = np.empty(len(values) + 1, dtype=object)
    for place, value in enumerate(values):  # one by one: a value may be a list
        table[place] = value
    table[-1] = blank
    looked_up: NDArray[Any] = table[codes]
    return looked_up


def from_arrow(column: Any) -> Cells:
    """Read the cells of a column of PyArrow."""
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.full(len(column), None, dtype=object)
    if not pa.types.is_dictionary(column.type):
        return pd.arrays.ArrowExtensionArray(column)
    whole = _one_chunk(column)
    codes = whole.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    codes[whole.is_null().to_numpy(zero_copy_only=False)] = -1
    values = whole.dictionary.to_pylist()
    if None in values or len(set(values)) < len(values):  # Arrow allows a value twice
        return pd.arrays.ArrowExtensionArray(whole.cast(column.type.value_type))
    return pd.Categorical.from_codes(codes, values, ordered=column.type.ordered)


def _one_chunk(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def distinct(cells: Cells, missing: Iterable[Value] = ()) -> list[Value]:
    """List the distinct values of a column, without blanks and empty texts, in order of appearance."""
    book = codebook((), missing)
    return [plain(value) for value in factorize(cells)[1] if value == value and read(value, book) == UNSEEN]


def are_lists(cells: Cells) -> bool:
    """Find whether the cells are lists or sets, each holding any number of values."""
    if cells.dtype != object:
        import pyarrow as pa

        kind = getattr(cells.dtype, "pyarrow_dtype", pa.null())
        tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
        return any(test(kind) for test in tests) and not pa.types.is_nested(kind.value_type)
    return isinstance(next((cell for cell in cells if not is_blank(cell)), None), LISTS)


def is_blank(cell: Any) -> bool:
    """Find whether a cell is empty in one of the ways that Python, NumPy and pandas have."""
    import pandas as pd

    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and cell != cell)


def unlist(cells: Cells) -> tuple[NDArray[np.bool_], NDArray[np.intp], Cells]:
    """Take lists apart: which cells hold one, and for each element its row and its value."""
    import pyarrow.compute as pc

    if cells.dtype != object:
        whole = _one_chunk(cells.__arrow_array__())
        there = whole.is_valid().to_numpy(zero_copy_only=False)
        lists = _one_chunk(whole.filter(whole.is_valid()))  # a blank may cover elements that nobody sees
        parents = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
        return there, np.flatnonzero(there)[parents], from_arrow(pc.list_flatten(lists))
    there = np.array([isinstance(cell, LISTS) for cell in cells])
    for row in np.flatnonzero(~there):
        if not is_blank(cells[row]):
            raise CellError(f"cell {cells[row]!r} (row {row}) is no list like the others; write it as one")
    rows = np.repeat(np.arange(len(cells)), [len(cell) if isinstance(cell, LISTS) else 0 for cell in cells])
    elements = np.empty(len(rows), dtype=object)
    elements[:] = list(itertools.chain.from_iterable(cells[there]))
    return there, rows, elements


def codebook(values: Iterable[Value], missing: Iterable[Value] = (), labels: Mapping[Any, str] | None = None) -> Book:
    """Say which code each cell stands for: the values by their order, missing codes as BLANK.

    Numbers match by value (1.0 is 1 and True). The number in a text, the text of a number or a boolean, and a value's
    label stand for the value too, as long as they stand for no other.

    >>> codebook([1, 2], labels={1: "low", 2: "high"})
    {1: 0, '1': 0, '1.0': 0, 'low': 0, 2: 1, '2': 1, '2.0': 1, 'high': 1}
    """
    told = [] if labels is None else [(*_typed(value), text) for value, text in labels.items()]
    return _codebook(tuple(map(_typed, values)), tuple(map(_typed, missing)), tuple(told))


def _typed(value: Value) -> tuple[type, Value]:
    """Tell 1 from True and from 1.0, which are equal."""
    return type(value), value


@lru_cache(maxsize=4096)
def _codebook(
    values: tuple[tuple[type, Value], ...],
    missing: tuple[tuple[type, Value], ...],
    told: tuple[tuple[type, Value, str], ...],
) -> Book:
    """Make the book, once for all tables with the same questions; nobody may write in it."""
    exact: Book = {value: code for code, (_, value) in enumerate(values)}
    exact |= dict.fromkeys((value for _, value in missing), BLANK)
    labels = {value: text for _, value, text in told}
    loose: Book = {}
    for value, code in exact.items():
        for form in [value, *_forms(value), *([labels[value]] if value in labels else [])]:
            loose[form] = code if loose.get(form, code) == code else UNSEEN
    return {form: exact.get(form, code) for form, code in loose.items() if exact.get(form, code) != UNSEEN}


def _forms(value: Value) -> list[Any]:
    if isinstance(value, bool):
        return [str(value), str(value).lower(), str(value).upper()]
    if not isinstance(value, str):
        return [str(value), str(float(value))] if abs(value) < 2**53 else [str(value)]
    if value.lower() in ("true", "false"):
        return [value.lower() == "true", value.lower(), value.capitalize(), value.upper()]
    number = _number(value)
    return [number] if number is not None and str(plain(number)) == value else []


def read(cell: Any, book: Book) -> int:
    """Look a cell up: spaces around a text do not count, and an empty text is an empty cell unless it is a value."""
    code = book.get(cell)
    if code is None and isinstance(cell, str):
        return book.get(cell.strip(), UNSEEN) if cell.strip() else EMPTY
    return UNSEEN if code is None else code


def match(cells: Cells, book: Book) -> NDArray[np.int32]:
    """Code each cell: BLANK for a missing code, EMPTY for an empty cell, UNSEEN for what is not in the book."""
    places, found = factorize(cells)
    return np.array([*(read(cell, book) for cell in found), EMPTY], dtype=np.int32)[places]


def spelling(cells: Cells, book: Book, values: Sequence[Any]) -> list[Any]:
    """Say each value as the column says it, and as itself where the column does not have it."""
    spelt = list(values)
    for cell in reversed(factorize(cells)[1]):
        code = read(cell, book)
        if code >= 0:
            spelt[code] = cell
    return spelt


def distinct_rows(block: Cells) -> tuple[Cells, Cells]:
    """Find the distinct rows of a block of small whole numbers, and each row's place among them."""
    places: Cells = np.zeros(len(block), dtype=np.int64)
    for column in block.T:  # one column at a time is ten times as fast as np.unique(axis=0)
        keys = places * (block.max(initial=0) + 2) + column
        _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return block[first], places


def split(cell: object, sign: str) -> list[str]:
    """List the parts of a text cell, without spaces around them and without empty parts."""
    parts = (part.strip() for part in str(plain(cell)).split(sign))
    return [part for part in parts if part]


def to_numbers(array: Cells, missing: Sequence[Value] = ()) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Turn each cell into a number (NaN if blank) and say which are none; texts such as "12.5" count as numbers."""
    if isinstance(array.dtype, np.dtype) and array.dtype.kind in "biuf":
        numbers, bad = array.astype(np.float64), np.zeros(len(array), dtype=bool)
    elif array.dtype.kind in "biuf":  # numbers of a type that has a blank of its own
        numbers, bad = array.to_numpy(dtype=np.float64, na_value=np.nan).copy(), np.zeros(len(array), dtype=bool)
    else:
        places, found = factorize(array)
        blank = {*missing, *map(str, missing), ""}
        parsed = [
            np.nan if (value.strip() if isinstance(value, str) else value) in blank else _number(value)
            for value in found
        ]
        bad = np.array([*(number is None for number in parsed), False])[places]
        numbers = np.array([*(np.nan if number is None else number for number in parsed), np.nan])[places]
    codes = [value for value in missing if not isinstance(value, str)]
    if codes:
        narrow = [np.float64(np.float32(code)) for code in codes] if array.dtype == np.float32 else []
        numbers[np.isin(numbers, [*codes, *narrow])] = np.nan
    return numbers, bad


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return np.inf
    # Python reads "nan" and "1_000" as numbers; in a survey they are texts that someone should look at.
    return None if number != number or (isinstance(value, str) and "_" in value) else number
