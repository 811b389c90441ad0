"""Predictors: machines that learn some questions from the others, or `y` from `X`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d

from mvrbm import encoding, inference
from mvrbm.answers import Answers, Source
from mvrbm.estimators.base import Estimator
from mvrbm.rbm import RBM
from mvrbm.schema import Schema
from mvrbm.tables import Table
from mvrbm.training import History, Settings
from mvrbm.training.checkpoint import Checkpoint
from mvrbm.training.predictive import METHODS, SOLVERS, Task, train_predictor
from mvrbm.units import Binary, Categorical, Continuous
from mvrbm.units.question import Question

Folder = str | os.PathLike[str]

_MACHINES = 3  # that predict together, unless their number is given


def takes_settings(of: type[Estimator]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Show, in a constructor's signature, settings that it hands on to that of a class: scikit-learn looks there."""

    def shown(init: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in inspect.signature(init).parameters.values() if p.kind is not p.VAR_KEYWORD]
        named = {p.name for p in own}
        handed_on = [p for p in inspect.signature(of.__init__).parameters.values() if p.name not in named]
        whole = own + [p.replace(kind=p.KEYWORD_ONLY) for p in handed_on]
        init.__signature__ = inspect.Signature(whole)  # type: ignore[attr-defined]
        return init

    return shown


class Predictor(Estimator):
    """What the predictors share: ways to learn some questions, the targets, from the others."""

    targets_: list[str]
    kept: ClassVar[tuple[str, ...]] = (*Estimator.kept, "targets_")

    @takes_settings(Estimator)
    def __init__(
        self,
        *,
        method: str = "discriminative",
        hybrid_weight: float = 0.1,
        solver: str = "minibatch",
        n_hidden: int | str = 20,
        **settings: Any,
    ) -> None:
        super().__init__(n_hidden, **settings)
        self.method = method
        self.hybrid_weight = hybrid_weight
        self.solver = solver

    def _settings(self, **instead: Any) -> Settings:
        for name, choices in (("method", ("generative", *METHODS)), ("solver", SOLVERS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {getattr(self, name)!r}")
        self._check_number("hybrid_weight", self.hybrid_weight, 0)
        if self.hybrid_weight > 1:
            raise ValueError(f"hybrid_weight must lie between 0 and 1, not {self.hybrid_weight!r}")
        if self.solver == "lbfgs" and self.method in ("generative", "hybrid"):
            raise ValueError(
                f'solver="lbfgs" needs an objective that has a value, and that of method={self.method!r} has none; use '
                'the method "discriminative", "finetune" or "features", or solver="minibatch"'
            )
        if self.method == "hybrid":  # of the objectives, it is chains that follow log P
            instead["objective"] = self.objective or "cd"
            if self.n_models is None and self.recipe == "default":
                instead["n_models"] = _MACHINES
        if self.method == "features":  # nothing goes past the vectors
            instead["links"] = 0
        return super()._settings(**instead)

    def _learn(
        self,
        answers: Answers,
        schema: Schema,
        targets: list[str],
        weights: NDArray[np.float64] | None,
        checkpoint: Folder | None,
    ) -> None:
        """Train a machine that predicts the targets; it takes the place of the one before when it is whole."""
        settings = self._settings()
        saved = self._checkpoint(checkpoint)
        if saved and self.solver == "lbfgs":
            raise ValueError('solver="lbfgs" has no checkpoint; use solver="minibatch"')
        for question, block in encoding.blocks(answers, schema):
            if question.name in targets and encoding.blank_cells(block).all():
                raise ValueError(
                    f"target {question.name!r} is blank in every row; name another, or see its missing=[...]"
                )
        if self.method == "generative":
            rbm, history = self._train_joint(answers, schema, weights, settings, saved)
        else:
            rbm, history = self._train_several(answers, schema, weights, settings, self._task(schema, targets), saved)
        self.schema_, self.rbm_, self.history_, self.targets_ = schema, rbm, history, targets

    def _train_several(
        self,
        answers: Answers,
        schema: Schema,
        weights: NDArray[np.float64] | None,
        settings: Settings,
        task: Task,
        saved: Checkpoint | None,
    ) -> tuple[RBM, History]:
        """A machine that predicts the targets and how it was trained, with others that stop by other people's."""

        def start(table: Source) -> RBM:
            return self._start(table, schema, weights, settings, task.learnt)

        def train_another(number: int, own: Settings) -> tuple[RBM, History]:
            beside = saved and saved.beside(f"{self.method}-{number}")
            other, told, _ = train_predictor(
                lambda _: rbm.another(own.seed), rbm.visible, answers, weights, own, task, None, beside, number
            )
            return other, told

        first = saved and saved.beside(self.method)
        layer = self._layer(answers, schema, weights)
        rbm, history, hidden = train_predictor(start, layer, answers, weights, settings, task, self._progress, first)
        rbm.mean_field = self.method == "features"  # as it learnt to predict
        inference.tune(rbm, hidden, weights)  # before there are others, that these answers are not hidden from
        more = self._further(rbm, history, settings, settings.n_models or _MACHINES, train_another)
        rbm.others = [other for other, _ in more]
        if rbm.others:  # they are as sure in the mean as they may be, and no longer as one of them is
            rbm.visible.reset_tempers()
        return rbm, history

    def _task(self, schema: Schema, targets: list[str]) -> Task:
        places = [schema.names.index(name) for name in targets]
        # the paper has the exact likelihood only of what is one code
        chains = [place for place in places if self.recipe == "paper" and list(schema)[place].n_codes != 1]
        if chains and self.solver == "lbfgs":
            name = schema.names[chains[0]]
            raise ValueError(f'the paper learns target {name!r} by chains, which have no value; use solver="minibatch"')
        return Task(places, chains, self.method, float(self.hybrid_weight), self.solver)

    def _inputs(self, X: Any) -> tuple[Table, Answers]:
        check_is_fitted(self, "rbm_")
        return self._read(X, leave=self.targets_)


class MVRBMPredictor(Predictor):
    """A machine that predicts one question of any type, or several at once, from all others.

    Parameters
    ----------
    target
        The question to predict: its name in the schema (or that of a column, or the number of an array's column), or
        a list of them, which then share the hidden layer. The table of `fit` holds it among the other questions; that
        of `predict` need not.
    method
        "discriminative" (the default) learns P(target | others) alone: its exact likelihood, with the hidden units
        summed out. "generative" learns all questions as `MVRBM` does. "hybrid" learns both
        `hybrid_weight` * log P(others) + (1 - `hybrid_weight`) * log P(target | others), where people without the
        target count for the first part: use it where few have it. "finetune" learns the others first, then the target
        given them, from there. "features" learns the others first, then the target given the vector of each person.
    hybrid_weight
        The share of the others in "hybrid", from 0 to 1.
    solver
        "minibatch", or "lbfgs": steps over the whole table, for the methods whose objective has a value.
    n_hidden
        Hidden units: 20, which are enough for most targets.
    settings
        Every other setting of `MVRBM`, by its name.

    Attributes
    ----------
    schema_, rbm_, history_
        As those of `MVRBM`; the loss is that of the target of people hidden from training.
    targets_
        The names of the questions that are predicted.

    Examples
    --------
    >>> from mvrbm.datasets import make_survey
    >>> frame, schema = make_survey(200, random_state=0)
    >>> model = MVRBMPredictor(schema.names[0], schema=schema, max_epochs=3, random_state=0).fit(frame)
    >>> model.predict(frame).shape
    (200,)

    """

    @takes_settings(Predictor)
    def __init__(self, target: Any = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.target = target

    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        checkpoint: Folder | None = None,
    ) -> Self:
        """Learn to predict the target; `sample_weight` or the schema's weight column says how much each row counts.

        `checkpoint` is a folder in which training is saved as it goes (see `MVRBM.fit`).
        """
        self._settings()
        with self._or_as_before():
            table, schema = self._table(X, reset=True)
            targets = self._targets(table, schema)
            schema = schema.learn(table)
            answers = encoding.encode(table, schema, self.unseen)
            self._learn(answers, schema, targets, self._weights(table, schema, sample_weight), checkpoint)
        return self

    def _targets(self, table: Table, schema: Schema) -> list[str]:
        """The names of the targets, once they are known to be questions."""
        if self.target is None:
            raise ValueError(f"target is not set; give the name of a question, e.g. target={schema.names[0]!r}")
        several = isinstance(self.target, Iterable) and not isinstance(self.target, str)
        given = list(self.target) if several else [self.target]
        owner = {column: question.name for question in schema for column in question.columns}
        given = [owner.get(name, name) if name not in schema.names else name for name in given]
        numbers = [n for n in given if isinstance(n, int | np.integer) and n not in schema.names]
        for n in numbers:
            if not -len(table.names) <= n < len(table.names):
                raise ValueError(f"target is column {n}, but the table has {len(table.names)} columns")
            if table.names[n] not in schema.names:
                raise ValueError(
                    f"target is column {n}, in which no question was found (it may be blank or always the same); "
                    "name it in a schema"
                )
        targets = self._named([table.names[n] if n in numbers else n for n in given], schema)
        if not targets:
            raise ValueError("target names no question; give at least one")
        if len(set(targets)) == len(schema.names):
            raise ValueError(
                f"every question is a target (n_features = {len(schema)}), so there is nothing to predict from; "
                "leave some out"
            )
        return list(dict.fromkeys(targets))

    def predict(self, X: Any) -> Any:
        """The best answer to the target given the other answers; one column comes as an array, several as a table."""
        table, answers = self._inputs(X)
        return self._predicted(table, answers, self.targets_, whole=False)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each answer to the target given the other answers, as a table.

        Its columns are those of `MVRBM.predict_proba`; with several targets each is named "question: answer".
        """
        table, answers = self._inputs(X)
        return self._probabilities(table, answers, self.targets_, named=len(self.targets_) > 1)

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean log-probability of the answers to the target given the others, by their weight.

        Of a question with several columns it is the mean over its options or pairs; of several targets, over them.
        """
        table, answers = self._read(X)
        places = [self.schema_.names.index(name) for name in self.targets_]
        _, inputs = self._inputs(X)
        scores = inference.log_scores(self.rbm_, answers, self.n_threads, places, inputs)
        return self._mean_score(scores, table, sample_weight)


class _OfXAndY(Predictor):
    """A predictor of `y` from `X`: y is one more question, the last of the table."""

    def _fit(self, X: Any, make: Callable[[str], Question], y: NDArray[Any], sample_weight: ArrayLike | None) -> None:
        """Learn y, which the question that `make` makes of a name codes."""
        self._settings()
        with self._or_as_before():
            table, schema = self._table(X, reset=True)
            check_consistent_length(np.empty(table.n_rows), y)
            schema = schema.learn(table)
            name = "y"
            while name in schema.columns or name in schema.names:
                name += "_"
            question = make(name)
            schema = Schema([*schema, question], ignore=schema.ignore, weight=schema.weight)
            answers = encoding.encode(table, schema, self.unseen, leave=[name])
            (answers.codes if question.n_codes else answers.numbers)[:, -1] = y
            self._learn(answers, schema, [name], self._weights(table, schema, sample_weight), None)

    def _found(self, X: Any) -> NDArray[Any]:
        """The code or number predicted for each row."""
        _, answers = self._inputs(X)
        found = inference.predict(self.rbm_, answers, [len(self.schema_) - 1], self.n_threads)
        return (found.codes if self.schema_[self.targets_[0]].n_codes else found.numbers)[:, -1]

    def _target(self, y: Any) -> NDArray[Any]:
        """Read y as one column without blanks, in scikit-learn's words where it is not."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} requires y to be passed, but the target y is None.")
        column: NDArray[Any] = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        return column

    def __sklearn_tags__(self) -> Any:
        """There is no learning without y."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class MVRBMClassifier(ClassifierMixin, _OfXAndY):  # type: ignore[misc]
    """A machine that predicts the class `y` of each row of `X`, a table of any types of questions, blanks anywhere.

    The parameters are those of `MVRBMPredictor` without `target`; `schema` tells the questions of X.

    Attributes
    ----------
    classes_
        The labels, sorted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MVRBMClassifier(random_state=0).fit(X, y).score(X, y) > 0.9
    True

    """

    classes_: NDArray[Any]
    kept = (*Predictor.kept, "classes_")

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn to predict the labels y, numbers or texts."""
        labels = self._target(y)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {classes[0]!r}")
        kind = Binary if len(classes) == 2 else Categorical
        self._fit(X, lambda name: kind(name, values=classes.tolist()), codes, sample_weight)
        self.classes_ = classes
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        found: NDArray[Any] = self._found(X)
        labels: NDArray[Any] = self.classes_[found]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, (rows, classes), in the order of `classes_`."""
        _, answers = self._inputs(X)
        return inference.chances(self.rbm_, answers, len(self.schema_) - 1, self.n_threads)[1]


class MVRBMRegressor(RegressorMixin, _OfXAndY):  # type: ignore[misc]
    """A machine that predicts the number `y` of each row of `X`, a table of any types of questions, blanks anywhere.

    The parameters are those of `MVRBMPredictor` without `target`; `schema` tells the questions of X.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> MVRBMRegressor(random_state=0).fit(X, y).score(X, y) > 0.4
    True

    """

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn to predict the numbers y."""
        numbers = self._target(y).astype(np.float64)
        self._fit(X, Continuous, numbers, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The expected number of each row."""
        return self._found(X).astype(np.float64)
