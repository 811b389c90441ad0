"""Tables in parts: Parquet files, and frames that come one after another; memory holds some rows at a time."""

from __future__ import annotations

import glob
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm import encoding
from mvrbm.compact import Filed, Writer
from mvrbm.files import ending_of
from mvrbm.files.arrow import parquet_file, to_arrow, to_pandas
from mvrbm.progress import Step, tell
from mvrbm.schema import Schema
from mvrbm.tables import Table
from mvrbm.whole import target_of, written_whole

AT_ONCE = 1 << 15
"""Rows that are read at a time."""
GUESSED_FROM = 1 << 16
"""Rows at the start by which the questions are guessed."""

_SOME = 1024  # rows to learn from that are kept before it is looked at which of them are needed
LARGE = 256 << 20
"""Bytes of a Parquet file from which a command reads it a part at a time; in memory it may take ten times as many."""

Job = Callable[[Any], Any]
"""Makes a table of pandas of some rows of one."""


class Part(NamedTuple):
    """A part of a table: a Parquet file, and what it is called in a sentence."""

    name: str
    path: Path
    n_rows: int


class Piece(NamedTuple):
    """Some rows of a part."""

    part: Part
    first: int
    """The number of the first of them, in the part."""
    table: Any
    """They themselves, a table of PyArrow."""


def in_parts(data: object) -> bool:
    """Tell whether a table is given as files or as an iterator of frames, and not as one that is in memory."""
    return isinstance(data, (str, os.PathLike, Iterator))


def too_large(path: str | os.PathLike[str]) -> bool:
    """Tell whether a table is to be read a part at a time: a folder, a pattern or a large Parquet file."""
    file = Path(path)
    if file.suffix.lower() == ".parquet" and file.is_file():
        return file.stat().st_size > LARGE
    return file.is_dir() or (not file.exists() and glob.has_magic(str(path)))


class Parts:
    """The parts of a table, once it is sure that each can be read and that they are of one table."""

    def __init__(self, parts: Iterable[tuple[str, Path]], alone: bool = False) -> None:
        self.parts: list[Part] = []
        self.alone = alone
        """Whether the table is the one file that was named."""
        self.schema: Any = None
        """The columns and their types, as PyArrow says them."""
        kinds: dict[str, str] = {}
        for name, path in parts:
            with parquet_file(path, name) as file:
                n_rows, schema = file.metadata.num_rows, file.schema_arrow
            if not n_rows:
                raise ValueError(f"{name}: it has no rows; leave it out")
            found = {field.name: _kind(field.type) for field in schema}
            if self.parts:
                _check_same(name, found, self.parts[0].name, kinds)
            kinds = {column: kinds.get(column) or kind for column, kind in found.items()}
            self.schema = _unified(self.schema, schema) if self.parts else schema
            self.parts.append(Part(name, path, n_rows))
        self.columns = list(kinds)
        self.n_rows = sum(part.n_rows for part in self.parts)

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Parts:
        """The parts of a Parquet file, a folder of them or a pattern such as "survey/*.parquet"."""
        return cls(((str(file), file) for file in files_of(path)), Path(path).is_file())

    def pieces(self, columns: Iterable[str] | None = None, what: str = "reading") -> Iterator[Piece]:
        """Go through the rows in order; a column that there is not is left to whoever reads the table."""
        done = 0
        wanted = None if columns is None else [column for column in columns if column in self.columns]
        for part in self.parts:
            for piece in pieces_of(part, wanted):
                yield piece
                done += len(piece.table)
                tell(Step(what, done, self.n_rows))

    def learnt(self, schema: Schema | None) -> Schema:
        """The schema with the values that were left out; without one, a guess from the first rows."""
        schema = Schema.infer(self.head()) if schema is None else schema
        learner = Learner(schema)
        for piece in self.pieces(schema.columns, "looking at the table"):
            with at_part(piece.part.name, piece.first):
                learner.add(piece.part.name, piece.first, *telling(piece.table, schema))
        return learner.learnt()

    def head(self) -> Any:
        """The first rows, as a table of PyArrow."""
        import pyarrow as pa

        few, n = [], 0
        for piece in self.pieces():
            few.append(piece.table)
            n += len(piece.table)
            if n >= GUESSED_FROM:
                break
        return pa.concat_tables(few, promote_options="permissive").slice(0, GUESSED_FROM)

    def encoded(self, schema: Schema, unseen: str, folder: Path) -> tuple[Filed, NDArray[np.float64] | None]:
        """The answers, put into files of a folder, and the weights of the rows."""
        writer = Writer(folder)
        weights = []
        columns = schema.columns + ([schema.weight] if schema.weight is not None else [])
        try:
            for piece in self.pieces(columns, "encoding"):
                with at_part(piece.part.name, piece.first):
                    table = Table(piece.table)
                    writer.add(encoding.encode(table, schema, unseen))
                    weights.append(encoding.weight_cells(table, schema))
        finally:
            writer.close()
        return writer.filed(), None if schema.weight is None else np.concatenate([w for w in weights if w is not None])

    def files_in(self, output: str | os.PathLike[str]) -> list[Path]:
        """Name the file of each part below a folder, which is made; of a part that is the whole table, `output`.

        Refused is what would be written over or left among what is not of this table.
        """
        target, read = Path(output), {part.path.resolve() for part in self.parts}
        if self.alone and not target.is_dir():
            files = [target_of(target)]
            if ending_of(target) != ".parquet":
                raise ValueError(f"{target}: what is read a part at a time is written as .parquet; give it that ending")
        else:
            root = Path(os.path.commonpath([part.path.resolve().parent for part in self.parts]))
            files = [target / part.path.resolve().relative_to(root) for part in self.parts]
            strange = {p.resolve() for p in target.rglob("*.parquet")} - {p.resolve() for p in files} - read
            if target.exists() and not target.is_dir():
                raise ValueError(f"{target} is a file; there are {len(files)} parts to write: give a folder")
            if strange:
                raise ValueError(f"{target} has other files, such as {min(strange).name}; give a folder of its own")
        if not read.isdisjoint(p.resolve() for p in files):
            raise ValueError(f"{target} is also what is read; give the output another name")
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
        return files

    def written(self, output: str | os.PathLike[str], job: Job, schema: Schema | None = None) -> list[Path]:
        """Write what `job` makes of the rows, a table of pandas, as one file for each part, whole or not at all.

        `schema` is that of the columns, if the job fills a copy of the table: then they keep their types.
        """
        files = self.files_in(output)
        kinds: Any = None
        done = 0
        for part, file in zip(self.parts, files, strict=True):
            with written_whole(file) as whole, _Sink(whole) as sink:
                for piece in pieces_of(part):
                    with at_part(piece.part.name, piece.first):
                        found = to_arrow(Table(job(to_pandas(piece.table)))).replace_schema_metadata(None)
                    kinds = kinds or _out_kinds(found.schema, self.schema, schema)
                    sink.add(found, kinds, part)
                    done += len(found)
                    tell(Step("people", done, self.n_rows))
        return files


class _Sink:
    """A Parquet file that is written a table at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer:
            self._writer.close()

    def add(self, table: Any, kinds: Any, part: Part) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = table.cast(kinds)
        except (pa.ArrowException, ValueError) as error:
            why = str(error).split("\n")[0]
            raise ValueError(
                f"{part.name}: its columns come out in other types than before ({why}); give them one type in all parts"
            ) from None
        self._writer = self._writer or pq.ParquetWriter(self._path, kinds)
        self._writer.write_table(table)


def _out_kinds(found: Any, before: Any, schema: Schema | None) -> Any:
    """The types in which the columns of all parts are written: those that they have, if they can hold every answer."""
    import pyarrow as pa

    if schema is None:
        return found
    fractions = {column for question in schema if question.fractions for column in question.columns}
    for place, field in enumerate(found):
        kind = before.field(field.name).type if field.name in before.names else pa.null()
        if field.name in fractions and pa.types.is_integer(kind):
            kind = pa.float64()
        if not pa.types.is_null(kind):
            found = found.set(place, field.with_type(kind).with_nullable(True))
    return found


def streamed(data: Any, output: Any, job: Job, schema: Schema | None = None) -> Any:
    """What `job` makes of a table in parts: files, or of an iterator of frames another."""
    if isinstance(data, Iterator):
        if output is not None:
            raise ValueError("of an iterator of frames comes another, not files; leave output out")
        return map(job, data)
    if output is None:
        raise ValueError(f"output is not set; say where to write what comes of {data}")
    return Parts.of(data).written(output, job, schema)


@contextmanager
def parts_of(data: Any, scratch: Path) -> Iterator[Parts]:
    """The parts of files or, put into a scratch folder, of frames that come one after another."""
    if not isinstance(data, Iterator):
        yield Parts.of(data)
        return
    import pyarrow.parquet as pq

    parts = []
    for number, frame in enumerate(data):
        path = scratch / f"{number:06}.parquet"
        table = Table(frame)
        if not table.n_rows:
            raise ValueError(f"frame {number}: it has no rows; leave it out")
        pq.write_table(to_arrow(table).replace_schema_metadata(None), path, compression="zstd")
        parts.append((f"frame {number}", path))
    if not parts:
        raise ValueError("the iterator gave no frame; give at least one")
    yield Parts(parts)


@contextmanager
def answers_of(
    data: Any, schema: Schema | None, unseen: str, known: Schema | None = None
) -> Iterator[tuple[Schema, Filed, NDArray[np.float64] | None]]:
    """The schema, the answers and the weights of a table in parts; what is put on disk for them is removed afterwards.

    `known` is the schema if it was learnt before. Things go where `tempfile` puts them (the variable TMPDIR).
    """
    with tempfile.TemporaryDirectory(prefix="mvrbm-") as folder, parts_of(data, Path(folder)) as parts:
        learnt = known or parts.learnt(schema)
        filed, weights = parts.encoded(learnt, unseen, Path(folder))
        with filed:
            if weights is not None:
                encoding.some_weight(weights, f"weight {learnt.weight!r}: every weight is 0")
            yield learnt, filed, weights


def files_of(path: str | os.PathLike[str]) -> list[Path]:
    """List the Parquet files of a folder or a pattern, in the order of their names; or the one that is named."""
    file = Path(path)
    if file.is_dir():
        own = sorted(p for p in file.rglob("*.parquet") if not p.name.startswith((".", "_")))
        if not own:
            raise FileNotFoundError(
                f"{file}: the folder has no file that ends in .parquet; give a folder of Parquet files"
            )
        return own
    if file.exists():
        if file.suffix.lower() != ".parquet":
            raise ValueError(f"{file}: only Parquet is read a part at a time; read it with read_table, or convert it")
        return [file]
    matching = sorted(Path(found) for found in glob.glob(str(path), recursive=True))
    if not matching:
        raise FileNotFoundError(f"{file} does not exist; check the name and the folder")
    return matching


def pieces_of(part: Part, columns: list[str] | None = None) -> Iterator[Piece]:
    """Go through the rows of one part."""
    import pyarrow as pa

    first = 0
    with parquet_file(part.path, part.name) as file:
        for batch in file.iter_batches(AT_ONCE, columns=columns, use_threads=False):
            # what pandas noted of the index is of the whole file
            yield Piece(part, first, pa.Table.from_batches([batch]).replace_schema_metadata(None))
            first += len(batch)


class Learner:
    """What the parts of a table say of its questions: the rows that are enough to learn from."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._frames: list[Any] = []
        self._places: list[tuple[str, int]] = []
        self._n_reduced = 0

    def add(self, name: str, first: int, frame: Any, rows: NDArray[np.intp]) -> None:
        """Take the `telling` rows of a part, whose first row has a number."""
        import pandas as pd

        self._frames.append(frame)
        self._places += [(name, first + int(row)) for row in rows]
        if len(self._places) > 2 * self._n_reduced + _SOME:
            frame, rows = telling(pd.concat(self._frames, ignore_index=True), self.schema)
            self._frames, self._places = [frame], [self._places[row] for row in rows]
            self._n_reduced = len(rows)

    def learnt(self) -> Schema:
        """The schema with the values that were left out."""
        import pandas as pd

        with _placed(lambda row: self._places[row]):
            return self.schema.learn(pd.concat(self._frames, ignore_index=True))


def telling(data: Any, schema: Schema) -> tuple[Any, NDArray[np.intp]]:
    """The rows that are enough to learn from, as a table of plain cells, and their numbers."""
    import pandas as pd

    table = Table(data)
    columns = [(question, encoding.read_columns(table, question)) for question in schema]
    rows = np.unique(np.concatenate([[0], *(question.telling(own) for question, own in columns)])).astype(np.intp)
    # plain, since each part may have a column in a type of its own
    cells = {name: list(own[rows]) for _, each in columns for name, own in each.items()}
    return pd.DataFrame({name: pd.Series(own, dtype=object) for name, own in cells.items()}), rows


def _kind(kind: Any) -> str:
    """Say what a column holds; whole numbers and others are the same, as a blank makes the one the other."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if isinstance(kind, (pa.ListType, pa.LargeListType, pa.FixedSizeListType)):
        inner = _kind(kind.value_type)
        return inner and f"lists of {inner}"
    if pa.types.is_null(kind):
        return ""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "numbers"
    return "texts" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)


def _unified(schema: Any, other: Any) -> Any:
    """Types that hold the columns of both; those of the first where Arrow knows none."""
    import pyarrow as pa

    try:
        return pa.unify_schemas([schema, other], promote_options="permissive")
    except pa.ArrowException:
        return schema


def _check_same(name: str, found: dict[str, str], first: str, kinds: dict[str, str]) -> None:
    """Refuse a part whose columns are not those of the first; one that is all blank may be of any type."""
    for column in [*kinds, *found]:
        if column not in found:
            raise ValueError(f"{name}: it has no column {column!r}, which {first} has; is it of another table?")
        if column not in kinds:
            raise ValueError(f"{name}: it has a column {column!r}, which {first} has not; is it of another table?")
        if "" != found[column] != kinds[column] != "":
            types = f"{found[column]}, but {kinds[column]} in {first}"
            raise ValueError(f"{name}: column {column!r} holds {types}; give both one type")


@contextmanager
def at_part(name: str, first: int = 0) -> Iterator[None]:
    """Say of which part an error is, and count its rows from the start of that."""
    with _placed(lambda row: (name, first + row), name):
        yield


@contextmanager
def _placed(place: Callable[[int], tuple[str, int]], name: str = "") -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        said = str(error)
        rows = re.findall(r"\brow (\d+)", said)
        if rows:
            name, row = place(int(rows[0]))
            said = said.replace(f"row {rows[0]}", f"row {row}", 1)
        raise ValueError(f"{name}: {said}" if name else said) from None
