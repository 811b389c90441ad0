"""The model on a Dask cluster: the same as on one machine, bit for bit, also if workers are lost on the way."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed
from numpy.typing import ArrayLike, NDArray

from mvrbm import encoding
from mvrbm.answers import Answers, Source
from mvrbm.dask.cluster import Cluster, client_of, local_cluster
from mvrbm.dask.spread import Rounds, Spread
from mvrbm.estimators import MVRBM
from mvrbm.estimators.predictor import takes_settings
from mvrbm.files.arrow import to_pandas
from mvrbm.parts import GUESSED_FROM, Learner, Part, Parts, at_part, in_parts, pieces_of, telling
from mvrbm.schema import Schema
from mvrbm.training.engine import Workers


class DaskMVRBM(MVRBM):
    """`MVRBM` on a Dask cluster.

    Tables are Dask dataframes of pandas, or Parquet files, folders and patterns that every worker can read. Training
    sends the parameters out and gets one sum of gradients back for each batch; whatever is lost with a worker is
    computed again, and the model is the one that a single machine would give. A batch should take longer than a round
    does (`docs/scale.md`): for many workers set a `batch_size` of thousands.

    Parameters
    ----------
    n_hidden
        Hidden units, as of `MVRBM`; so are all other settings.
    client
        A `distributed.Client`, or the address of a scheduler. None: the client that there is or else, as for "local",
        processes of this machine for as long as each call takes.

    """

    @takes_settings(MVRBM)
    def __init__(self, n_hidden: int | str = "auto", *, client: Any = None, **settings: Any) -> None:
        super().__init__(n_hidden, **settings)
        self.client = client

    @contextmanager
    def _answers(
        self, X: Any, sample_weight: ArrayLike | None, known: Schema | None = None
    ) -> Iterator[tuple[Schema, Source, NDArray[np.float64] | None]]:
        partitions = _Partitions(X)
        if known is None:
            self._forget_names()
        with client_of(self.client) as client:
            cluster = Cluster(client)
            schema = known or partitions.learnt(cluster, self._given_schema())
            answers = partitions.encoded(cluster, schema, self.unseen)
            weights = partitions.weights(cluster, schema)
            if sample_weight is not None:
                weights = self._checked_weights(sample_weight, answers.n_rows)
            self._workers: Callable[[int | None], Workers] = partial(Rounds, cluster)
            try:
                yield schema, answers, weights
            finally:
                del self._workers

    def transform(self, X: Any, output: Any = None) -> Any:
        """The vector of each row, as a Dask dataframe."""
        _not_to_file(output)
        local = self.to_local()
        columns = list(local.get_feature_names_out())
        return self._mapped(X, _vectors, pd.DataFrame(columns=columns, dtype=np.float32))

    def complete(self, X: Any, questions: Iterable[str] | None = None, *_: Any, output: Any = None, **more: Any) -> Any:
        """Fill the blanks, in a copy of the Dask dataframe (see `MVRBM.complete`).

        Columns keep their types, but whole numbers become others where an answer may be a fraction.
        """
        _not_to_file(output)
        if _ or more:
            raise ValueError(
                "where, flags, draws and bootstrap are for a table in memory; use to_local() on a part of it"
            )
        frames = _frames(X)
        fractions = {column for question in self.schema_ if question.fractions for column in question.columns}
        kinds = {c: "float64" for c in frames.columns if c in fractions and frames[c].dtype.kind in "iu"}
        return self._mapped(frames, _completed, frames._meta.astype(kinds), None if questions is None else [*questions])

    def predict(self, X: Any, question: str | None = None, how: str | None = None, output: Any = None) -> Any:
        """The best answer to a question (None: to every one; see `MVRBM.predict`), as a Dask dataframe."""
        _not_to_file(output)
        meta = _predicted(self._nobody(), self.to_local(), question, how)
        if question is None:
            meta = _frames(X)._meta.assign(**{name: meta[name] for name in meta.columns})
        return self._mapped(X, _predicted, meta.iloc[:0], question, how)

    def predict_proba(self, X: Any, question: str | None = None, how: str | None = None, output: Any = None) -> Any:
        """The probability of each answer (see `MVRBM.predict_proba`), as a Dask dataframe."""
        _not_to_file(output)
        meta = self.to_local().predict_proba(self._nobody(), question, how)
        return self._mapped(X, _chances, meta.iloc[:0], question, how)

    def to_local(self) -> MVRBM:
        """The same model without a cluster."""
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        local = MVRBM(**settings)
        for name in ("schema_", "rbm_", "history_", "_memory", *self.kept):
            if hasattr(self, name):
                setattr(local, name, getattr(self, name))
        return local

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model into one file, as a plain `MVRBM`."""
        self.to_local().save(path)

    def _mapped(self, X: Any, job: Callable[..., Any], meta: Any, *given: Any) -> Any:
        local = self.to_local()
        local.n_threads = 1
        return _frames(X).map_partitions(job, delayed(local, pure=False), *given, meta=meta)

    def _nobody(self) -> pd.DataFrame:
        """A table of one person who answers nothing, to see what columns come out."""
        return pd.DataFrame({name: np.array([None], dtype=object) for name in self.schema_.columns})


class _Partitions:
    """The partitions of a table, each read on a worker, and what each is called in a sentence."""

    def __init__(self, data: Any) -> None:
        if isinstance(data, dd.DataFrame):
            self.frames: list[Any] = data.to_delayed()
            self.names = [f"partition {number}" for number in range(len(self.frames))]
        elif in_parts(data) and not isinstance(data, Iterator):
            parts = Parts.of(data).parts  # refuses what cannot be read before anything is sent out
            self.frames = [delayed(read_part)(part) for part in parts]
            self.names = [part.name for part in parts]
        else:
            raise TypeError(
                f"{type(data).__name__} is no table for a cluster; give a Dask dataframe, or the name of a Parquet "
                "file, a folder of them or a pattern"
            )

    def learnt(self, cluster: Cluster, schema: Schema | None) -> Schema:
        """The schema with the values that were left out; without one, a guess from the first rows."""
        if schema is None:
            schema = Schema.infer(self._head(cluster))
        learner = Learner(schema)
        found = self._each(cluster, _tell, schema)
        for name, (frame, rows) in zip(self.names, found, strict=True):
            learner.add(name, 0, frame, rows)
        return learner.learnt()

    def _head(self, cluster: Cluster) -> Any:
        few: list[Any] = []
        for frame in self.frames:
            few += cluster.results(lambda frame=frame: _computed(cluster, [delayed(_first)(frame)]))  # type: ignore[misc]
            if sum(map(len, few)) >= GUESSED_FROM:
                break
        return pd.concat(few, ignore_index=True).iloc[:GUESSED_FROM]

    def encoded(self, cluster: Cluster, schema: Schema, unseen: str) -> Spread:
        """The answers, on the workers."""

        def encode() -> list[Any]:
            own = zip(self.frames, self.names, strict=True)
            return _computed(cluster, [delayed(_encode)(f, name, schema, unseen) for f, name in own])

        def count() -> list[Any]:
            return [cluster.submit("count", _count, answers) for answers in encode()]

        return Spread(cluster, encode, cluster.results(count))

    def weights(self, cluster: Cluster, schema: Schema) -> NDArray[np.float64] | None:
        """The weights of the rows, here."""
        if schema.weight is None:
            return None
        found: NDArray[np.float64] = np.concatenate(self._each(cluster, _weigh, schema))
        return encoding.some_weight(found, f"weight {schema.weight!r}: every weight is 0")

    def _each(self, cluster: Cluster, work: Callable[..., Any], schema: Schema) -> list[Any]:
        own = list(zip(self.frames, self.names, strict=True))
        return cluster.results(lambda: _computed(cluster, [delayed(work)(frame, name, schema) for frame, name in own]))


def _computed(cluster: Cluster, asked: list[Any]) -> list[Any]:
    futures: list[Any] = cluster.client.compute(asked)
    return futures


def _not_to_file(output: Any) -> None:
    if output is not None:
        raise ValueError(
            "a cluster gives a Dask dataframe and no files; leave output out and write it: .to_parquet(...)"
        )


def _frames(data: Any) -> Any:
    """A table as a Dask dataframe."""
    if isinstance(data, dd.DataFrame):
        return data
    parts = Parts.of(data)
    head = to_pandas(parts.schema.empty_table())
    return dd.from_map(
        read_part, parts.parts, meta=head.astype({c: "Int64" for c in head if head[c].dtype.kind in "iu"})
    )


# On the workers.


def read_part(part: Part) -> pd.DataFrame:
    """Read a part whole."""
    return pd.concat([to_pandas(piece.table) for piece in pieces_of(part)], ignore_index=True)


def _first(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[:GUESSED_FROM]


def _tell(frame: pd.DataFrame, name: str, schema: Schema) -> tuple[Any, Any]:
    if not len(frame):
        return pd.DataFrame(columns=schema.columns, dtype=object), np.zeros(0, np.intp)
    with at_part(name):
        return telling(frame, schema)


def _encode(frame: pd.DataFrame, name: str, schema: Schema, unseen: str) -> Answers:
    if not len(frame):
        n_codes, n_numbers = (sum(getattr(q, n) for q in schema) for n in ("n_codes", "n_numbers"))
        return Answers(np.zeros((0, n_codes), encoding.code_type(schema)), np.zeros((0, n_numbers), np.float32))
    with at_part(name):
        return encoding.encode(frame, schema, unseen)


def _count(answers: Answers) -> int:
    return answers.n_rows


def _weigh(frame: pd.DataFrame, name: str, schema: Schema) -> Any:
    with at_part(name):
        return encoding.weight_cells(frame, schema)


def _vectors(frame: pd.DataFrame, model: MVRBM) -> pd.DataFrame:
    columns = list(model.get_feature_names_out())
    found = model.transform(frame) if len(frame) else np.zeros((0, len(columns)), np.float32)
    return pd.DataFrame(found, columns=columns, index=frame.index)


def _completed(frame: pd.DataFrame, model: MVRBM, questions: list[str] | None) -> pd.DataFrame:
    filled: pd.DataFrame = model.complete(frame, questions) if len(frame) else frame
    return filled


def _predicted(frame: pd.DataFrame, model: MVRBM, question: str | None, how: str | None) -> pd.DataFrame:
    found: pd.DataFrame = model._as_table(model.predict(frame, question, how), question).set_axis(frame.index)
    return found


def _chances(frame: pd.DataFrame, model: MVRBM, question: str | None, how: str | None) -> pd.DataFrame:
    found: pd.DataFrame = model.predict_proba(frame, question, how)
    return found


__all__ = ["DaskMVRBM", "local_cluster"]
