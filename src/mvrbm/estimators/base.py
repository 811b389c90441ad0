"""What the estimators share: settings, the table they are given, its questions and weights."""

from __future__ import annotations

import difflib
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from narwhals.dependencies import is_into_dataframe
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mvrbm import encoding, inference, modelfile
from mvrbm.answers import Answers, Source
from mvrbm.cells import some
from mvrbm.parts import answers_of, in_parts
from mvrbm.rbm import RBM
from mvrbm.schema import Schema
from mvrbm.summary import rows_that_count, summarise
from mvrbm.tables import Table
from mvrbm.training import DivergenceError, History, Settings, refit, train, train_beside
from mvrbm.training.checkpoint import Checkpoint
from mvrbm.training.engine import Workers
from mvrbm.training.screening import screen
from mvrbm.training.stopping import MOST_ROWS, HiddenAnswers, hide, patterns
from mvrbm.training.trainer import Progress
from mvrbm.visible import Visible

RECIPES = {
    "default": Settings(),
    # what the paper leaves open (rate, epochs, batch) is ours
    "paper": Settings(
        optimiser="sgd", plain_steps=True, batch_size=100, max_epochs=50, early_stopping=False, objective="cd"
    ),
}
_CHOICES = {
    "objective": ("masked", "cd", "pcd"),
    "missing": ("ignore", "hidden"),
    "optimiser": ("adam", "sgd"),
    "schedule": ("constant", "linear", "cosine"),
}


class Estimator(BaseEstimator):  # type: ignore[misc]
    """A machine that learns from a table. `MVRBM` tells what each setting means."""

    schema_: Schema
    rbm_: RBM
    history_: History
    kept: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_")
    """Fitted attributes, plain data or small arrays, that a model file holds beside the machine."""
    _workers: Callable[[int | None], Workers] = Workers
    """Who takes the jobs of training."""

    def __init__(
        self,
        n_hidden: int | str = "auto",
        *,
        schema: Schema | None = None,
        recipe: str = "default",
        objective: str | None = None,
        gibbs_steps: int | None = None,
        missing: str | None = None,
        answered: bool | None = None,
        links: int | None = None,
        n_models: int | None = None,
        n_chains: int | None = None,
        optimiser: str | None = None,
        learning_rate: float | None = None,
        momentum: float | None = None,
        schedule: str | None = None,
        l2: float | None = None,
        decay: float | None = None,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        early_stopping: bool | None = None,
        hidden_share: float | None = None,
        patience: int | None = None,
        refit_epochs: int | None = None,
        unseen: str = "error",
        n_threads: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.schema = schema
        self.recipe = recipe
        self.objective = objective
        self.gibbs_steps = gibbs_steps
        self.missing = missing
        self.answered = answered
        self.links = links
        self.n_models = n_models
        self.n_chains = n_chains
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.schedule = schedule
        self.l2 = l2
        self.decay = decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.hidden_share = hidden_share
        self.patience = patience
        self.refit_epochs = refit_epochs
        self.unseen = unseen
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model into one file (.mvrbm), which `mvrbm.load` reads; equal models are equal bytes."""
        check_is_fitted(self, "rbm_")
        modelfile.save(self, path)

    def _checkpoint(self, folder: str | os.PathLike[str] | None) -> Checkpoint | None:
        """Where training is saved as it goes."""
        if folder is None:
            return None
        if not isinstance(self.random_state, (int, np.integer)):
            raise ValueError("checkpoint needs a number for random_state: without it, a second run is another one")
        return Checkpoint(folder)

    def _seed(self, random_state: Any) -> int:
        return int(check_random_state(self.random_state if random_state is None else random_state).randint(2**31 - 1))

    def _read(self, X: Any, leave: Collection[str] = ()) -> tuple[Table, Answers]:
        """The table and its answers, once the model is fitted; questions named by `leave` are not read."""
        check_is_fitted(self, "rbm_")
        table, schema = self._table(X, reset=False, leave=leave)
        return table, encoding.encode(table, schema, self.unseen, absent="missing", leave=leave)

    @contextmanager
    def _answers(
        self, X: Any, sample_weight: ArrayLike | None, known: Schema | None = None
    ) -> Iterator[tuple[Schema, Source, NDArray[np.float64] | None]]:
        """The questions of a table to learn from, its answers and the weights of its rows, wherever it is.

        `known` are the questions if they were learnt before.
        """
        if not in_parts(X):
            table, schema = self._table(X, reset=known is None)
            schema = known or schema.learn(table)
            answers = encoding.encode(table, schema, self.unseen)
            yield schema, answers, self._weights(table, schema, sample_weight)
            return
        if known is None:
            self._forget_names()
        with answers_of(X, self._given_schema(), self.unseen, known) as (schema, filed, weights):
            yield (
                schema,
                filed,
                weights if sample_weight is None else self._checked_weights(sample_weight, filed.n_rows),
            )

    def _train_joint(
        self,
        answers: Source,
        schema: Schema,
        weights: NDArray[np.float64] | None,
        settings: Settings,
        saved: Checkpoint | None,
    ) -> tuple[RBM, History]:
        """A machine of all the questions, and how it was trained."""
        hidden = self._hide(answers, self._layer(answers, schema, weights), settings, weights)
        stop_by = hidden if settings.early_stopping and self.n_hidden else None
        # not even the marginals may know what was hidden
        rbm = self._start(stop_by.kept if stop_by else answers, schema, weights, settings)
        at = self._workers
        history = train(rbm, answers, settings, weights, self._progress, stop_by, checkpoint=saved, workers=at)

        inference.tune(rbm, hidden, weights)  # before there are others, that these answers are not hidden from
        if stop_by:
            refit(rbm, answers, settings, weights, history, checkpoint=saved, workers=at)
        refitted = stop_by and history.best_epoch and settings.epochs_again(answers.n_rows)

        def train_another(number: int, own: Settings) -> tuple[RBM, History]:
            other = rbm.another(own.seed)
            beside = saved and saved.beside(f"training-{number}")
            if stop_by and refitted:
                return other, train_beside(other, answers, own, weights, history, stop_by, beside, at)
            told = train(other, answers, own, weights, None, stop_by, checkpoint=beside, workers=at, watched=False)
            return other, told

        # where nothing tells when to stop, the epochs do not tell how slowly it learns
        wanted = settings.machines(len(list(schema)), answers.n_rows, history.best_epoch if stop_by else 0)
        rbm.others = [other for other, _ in self._further(rbm, history, settings, wanted, train_another)]
        return rbm, history

    @staticmethod
    def _further(
        rbm: RBM,
        history: History,
        settings: Settings,
        wanted: int,
        train_another: Callable[[int, Settings], tuple[RBM, History]],
    ) -> list[tuple[RBM, History]]:
        """Machines from other seeds, so many that they are as many as wanted with the first, each with its training.

        When one is interrupted or goes astray, those before it are whole, and enough.
        """
        done: list[tuple[RBM, History]] = []
        while 1 + len(done) < wanted and rbm.n_hidden:
            number = 1 + len(done)
            if history.stopped == "interrupted":
                said = f"training was interrupted: the model has {number} of {wanted} machines"
                warnings.warn(said, stacklevel=2)
                break
            try:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message="training was interrupted")
                    found = train_another(number, replace(settings, seed=settings.seed + number))
            except DivergenceError as error:
                warnings.warn(f"the model has {number} of {wanted} machines: {error}", stacklevel=2)
                break
            if found[1].stopped == "interrupted":
                history.stopped = "interrupted"
            else:
                done.append(found)
        return done

    def _start(
        self,
        answers: Source,
        schema: Schema,
        weights: NDArray[np.float64] | None,
        settings: Settings,
        targets: Sequence[int] | None = None,
    ) -> RBM:
        """The machine that a table starts with: its links, and what it will tell made-up people that they answer.

        `targets` are the questions that it will learn to tell, if not all.
        """
        visible = self._layer(answers, schema, weights)
        K = self._size(len(rows_that_count(weights, answers.n_rows)), visible.n_questions)
        links = None
        if settings.links and K:
            links = screen(visible, answers, weights, settings.links, settings.answered, targets)
        rbm = RBM.start(visible, K, settings.seed, answered=settings.answered and K > 0, links=links)
        rbm.mean_field = settings.objective == "masked"  # as it learns to predict
        if len(rbm.parameters.R):
            rbm.patterns = patterns(visible, answers, weights, settings.seed)
        return rbm

    @property
    def _by_size(self) -> bool:
        return isinstance(self.n_hidden, str) and self.n_hidden == "auto"

    def _size(self, n_people: int, n_questions: int) -> int:
        """The number of hidden units for a table of some people who were asked some questions."""
        most = np.clip(5 * n_questions, 50, 200)
        return int(np.clip(10 * round(n_people / 500), 50, most)) if self._by_size else int(self.n_hidden)

    def _layer(self, answers: Source, schema: Schema, weights: NDArray[np.float64] | None) -> Visible:
        questions = list(schema)
        return Visible(questions, summarise(answers, questions, weights), paper=self.recipe == "paper")

    @staticmethod
    def _hide(
        answers: Source, visible: Visible, settings: Settings, weights: NDArray[np.float64] | None
    ) -> HiddenAnswers:
        return hide(answers, visible, settings.hidden_share, settings.seed, MOST_ROWS, weights)

    def _predicted(
        self, table: Table, answers: Answers, names: Sequence[str], whole: bool, how: str | None = None
    ) -> Any:
        """The best answers to some questions: one column as an array, several, and the `whole` table, as tables."""
        places = [self.schema_.names.index(name) for name in names]
        columns = encoding.decode(inference.predict(self.rbm_, answers, places, self.n_threads, how), self.schema_)
        if whole:
            return table.written(columns)
        own = {column: columns[column] for name in names for column in self.schema_[name].columns}
        return next(iter(own.values())) if len(own) == 1 else table.only(own)

    def _probabilities(
        self, table: Table, answers: Answers, names: Sequence[str], named: bool, how: str | None = None
    ) -> Any:
        """The probabilities of the answers to some questions side by side; each column `named` "question: answer"."""
        columns: dict[str, Any] = {}
        for question in names:
            place = self.schema_.names.index(question)
            found, p = inference.chances(self.rbm_, answers, place, self.n_threads, how)
            before = f"{question}: " if named else ""
            columns |= {f"{before}{name}": p[:, n] for n, name in enumerate(found)}
        return table.only(columns)

    @staticmethod
    def _named(questions: Iterable[str], schema: Schema) -> list[str]:
        """The questions that are named, once they are known to be there."""
        wanted = [questions] if isinstance(questions, str) else list(questions)
        for name in wanted:
            if name not in schema.names:
                near = difflib.get_close_matches(str(name), schema.names, n=1)
                instead = f"did you mean {near[0]!r}?" if near else f"there are {some(schema.names)}"
                raise ValueError(f"no question is named {name!r}; {instead}")
        return wanted

    def _mean_score(self, scores: NDArray[np.float64], table: Table, sample_weight: ArrayLike | None) -> float:
        """The mean of the rows' scores by their weight; those without any have no say."""
        weights = self._weights(table, self.schema_, sample_weight) if self._has_weights(table, sample_weight) else None
        there = ~np.isnan(scores)
        if not there.any():
            raise ValueError("no row answers any question that is scored, so there is nothing to score")
        return float(np.average(scores[there], weights=None if weights is None else weights[there]))

    def _has_weights(self, table: Table, sample_weight: ArrayLike | None) -> bool:
        return sample_weight is not None or (self.schema_.weight is not None and self.schema_.weight in table)

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """A fit that fails leaves the model of the one before."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _table(self, X: Any, reset: bool, leave: Collection[str] = ()) -> tuple[Table, Schema]:
        """The table and its questions: the given ones, those of the fit, or a guess.

        Without a schema, arrays and tables that are all numbers follow scikit-learn's rules about widths and names.
        """
        schema = self._given_schema()
        if reset:
            self._forget_names()
        if schema is not None:
            return Table(X), schema if reset else self.schema_
        if not is_into_dataframe(X):
            array = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
            table = Table(array)
            return table, _schema_of_array(array, table) if reset else self.schema_
        table = Table(X)
        if table.all_numbers and (reset or all(name in table for name in leave)):
            validate_data(self, X, reset=reset, skip_check_array=True)
        return table, Schema.infer(table) if reset else self.schema_

    def _given_schema(self) -> Schema | None:
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise TypeError(f"schema must be a Schema([...]), not {type(self.schema).__name__}")
        return self.schema

    def _forget_names(self) -> None:
        """Those of another table would be wrong."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def __sklearn_tags__(self) -> Any:
        """Blanks are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _settings(self, **instead: Any) -> Settings:
        """The recipe with what was set by hand, once it is sure to make sense; `instead` overrules both."""
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(map(repr, RECIPES))}, not {self.recipe!r}")
        if not self._by_size:
            self._check_number("n_hidden", self.n_hidden, 0, whole=True, otherwise=", or 'auto'")
        given = {name: getattr(self, name) for name in Settings.__dataclass_fields__ if hasattr(self, name)}
        given = {name: value for name, value in given.items() if value is not None}
        for name, choices in _CHOICES.items():
            if given.get(name, choices[0]) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {given[name]!r}")
        for name in ("gibbs_steps", "n_chains", "n_models", "batch_size", "patience", "n_threads"):
            self._check_number(name, given.get(name, 1), 1, whole=True)
        self._check_number("max_epochs", given.get("max_epochs", 1), 0, whole=True)
        for name in ("links", "refit_epochs"):
            self._check_number(name, given.get(name, 1), 0, whole=True)
        for name in ("learning_rate", "l2", "decay", "momentum"):
            self._check_number(name, given.get(name, 0), 0)
        if not 0 < given.get("hidden_share", 0.1) < 1:
            raise ValueError(f"hidden_share must lie above 0 and below 1, not {given['hidden_share']!r}")
        if given.get("momentum", 0) >= 1:
            raise ValueError(f"momentum must lie below 1, not {given['momentum']!r}")
        for name in ("early_stopping", "answered"):
            if given.get(name, True) not in (True, False):
                raise ValueError(f"{name} must be True or False, not {given[name]!r}")
        told = {**given, **instead}
        settings = replace(RECIPES[self.recipe], seed=self._seed(None), **told)
        if settings.objective == "masked":
            return settings
        for name in ("answered", "links"):
            if given.get(name):
                raise ValueError(f'{name} goes with objective="masked" alone; leave one of them out')
        return replace(settings, answered=False, links=0, refit_epochs=0, n_models=told.get("n_models", 1))

    def _weights(self, table: Table, schema: Schema, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
        if sample_weight is None:
            return encoding.weights(table, schema)
        return self._checked_weights(sample_weight, table.n_rows)

    @staticmethod
    def _checked_weights(sample_weight: ArrayLike, n_rows: int) -> NDArray[np.float64]:
        weights = np.asarray(sample_weight, np.float64)
        if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError(f"sample_weight must be {n_rows} finite numbers, 0 or more")
        return encoding.some_weight(weights, "every sample_weight is zero")

    @staticmethod
    def _check_number(name: str, value: Any, least: int, whole: bool = False, otherwise: str = "") -> None:
        kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < np.inf:
            kind = "whole number" if whole else "finite number"
            raise ValueError(f"{name} must be a {kind}, {least} or more{otherwise}, not {value!r}")

    @property
    def _progress(self) -> Progress | None:
        return _say if self.verbose else None


def _say(epoch: int, entry: dict[str, float]) -> None:
    said = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in entry.items())
    print(f"epoch {epoch + 1}: {said}", file=sys.stderr)


def _schema_of_array(array: NDArray[Any], table: Table) -> Schema:
    """Take floats for numbers and guess the rest; a column that never varies is set aside, unless there is one row."""
    if array.dtype.kind != "f":
        return Schema.infer(table)
    varies = np.fmin.reduce(array) < np.fmax.reduce(array) if len(array) > 1 else np.ones(array.shape[1], dtype=bool)
    return Schema.infer(table, dict(zip(np.array(table.names)[varies].tolist(), itertools.repeat("continuous"))))
