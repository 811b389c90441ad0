"""The model as scikit-learn knows models: `MVRBM`."""

from __future__ import annotations

import difflib
import itertools
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from narwhals.dependencies import is_into_dataframe
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mvrbm import encoding, inference
from mvrbm.answers import Answers
from mvrbm.cells import some
from mvrbm.rbm import RBM
from mvrbm.schema import Schema
from mvrbm.summary import summarise
from mvrbm.tables import Table
from mvrbm.training import Settings, train
from mvrbm.training.stopping import MOST_ROWS, hide
from mvrbm.visible import Visible

RECIPES = {
    "default": Settings(),
    # what the paper leaves open (rate, epochs, batch) is ours
    "paper": Settings(
        optimiser="sgd", learning_rate=0.1, batch_size=100, max_epochs=50, early_stopping=False, objective="cd"
    ),
}
_CHOICES = {
    "objective": ("cd", "pcd"),
    "missing": ("ignore", "hidden"),
    "optimiser": ("adam", "sgd"),
    "schedule": ("constant", "linear", "cosine"),
}


class MVRBM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One probability model over questions of every type, blanks anywhere.

    Settings left at None are those of the recipe. "default" is ours, told below; "paper" is the model and the training
    of Tran, Phung and Venkatesh to the letter (CD-1, plain SGD at a rate of 0.1, batches of 100, 50 epochs, no
    early stopping).

    Parameters
    ----------
    n_hidden
        Hidden units: the length of the vector that a person becomes. 0 is the baseline that knows only
        how often each answer is given.
    schema
        The questions of the table. None: they are guessed by `Schema.infer` (`print(model.schema_)` shows what and
        why); the columns of an array of floats are continuous. With a schema, columns are matched by name.
    recipe
        "default" or "paper".
    objective
        "cd" (contrastive divergence, the default) or "pcd" (with persistent chains).
    gibbs_steps
        Sweeps of a chain in each step: 1.
    missing
        What a blank means in training: "ignore" (the default) leaves it out, "hidden" draws it given the answers.
        "pcd" always draws it. (Codes that mean blank are told by `missing=[...]` of a question.)
    n_chains
        Persistent chains, for "pcd": 256.
    optimiser, learning_rate, momentum, schedule, l2
        "adam" (the default) or "sgd"; the size of its first steps (None: 0.01, less for more than 50 hidden units);
        the momentum of "sgd"; how the rate goes on ("constant", "linear" or "cosine", the latter two down to 0 at
        `max_epochs`); the shrinkage of the weights.
    batch_size, max_epochs
        Rows in a step (None: a fiftieth of the table, 64 to 512), and the most passes over the table (200).
    early_stopping, hidden_share, patience
        Hide a share (0.1) of the answers of up to 4,000 people from training; after `patience` (5) epochs (and at least
        100 steps) in which they were not predicted better, lower the rate, and stop when that no longer helps. The
        parameters are those of the best epoch.
    unseen
        What to do with a value that is not in the schema: "error" or "missing" (take it as blank).
    n_threads
        Threads; None is one for each processor. Their number changes no bit of the result.
    random_state
        Seed: the same table, settings and seed give the same model.
    verbose
        1 prints a line for each epoch.

    Attributes
    ----------
    schema_
        The schema with the values that were learnt.
    history_
        What happened in training: for each epoch its learning rate and loss, minus the mean log-probability of an
        answer that was hidden from training (without early stopping there is none); `start_loss`, that of the
        marginals; `best_epoch`, whose parameters the model has (0: those of the start); `stopped`, why training
        ended; `undone`, how often it went astray and was taken back.
    rbm_
        The machine: its parameters, posterior, free energy and samples.

    Examples
    --------
    >>> from mvrbm.datasets import make_survey
    >>> frame, schema = make_survey(200, random_state=0)
    >>> model = MVRBM(n_hidden=4, schema=schema, max_epochs=3, random_state=0).fit(frame)
    >>> model.transform(frame).shape
    (200, 4)

    """

    def __init__(
        self,
        n_hidden: int = 50,
        *,
        schema: Schema | None = None,
        recipe: str = "default",
        objective: str | None = None,
        gibbs_steps: int | None = None,
        missing: str | None = None,
        n_chains: int | None = None,
        optimiser: str | None = None,
        learning_rate: float | None = None,
        momentum: float | None = None,
        schedule: str | None = None,
        l2: float | None = None,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        early_stopping: bool | None = None,
        hidden_share: float | None = None,
        patience: int | None = None,
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
        self.n_chains = n_chains
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.schedule = schedule
        self.l2 = l2
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.hidden_share = hidden_share
        self.patience = patience
        self.unseen = unseen
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the model of a table; `sample_weight` or the schema's weight column says how much each row counts."""
        settings = self._settings()
        table, schema = self._table(X, reset=True)
        schema = schema.learn(table)
        answers = encoding.encode(table, schema, self.unseen)
        weights = self._weights(table, schema, sample_weight)
        visible = self._visible(answers, schema, weights)
        hidden = None
        if settings.early_stopping and self.n_hidden:
            hidden = hide(answers, visible, settings.hidden_share, settings.seed, MOST_ROWS, weights)
            visible = self._visible(hidden.kept, schema, weights)  # not even the marginals may know what was hidden
        rbm = RBM.start(visible, int(self.n_hidden), settings.seed)
        history = train(rbm, answers, settings, weights, self._say if self.verbose else None, hidden)
        hidden = hidden or hide(answers, visible, settings.hidden_share, settings.seed, MOST_ROWS, weights)
        inference.tune(rbm, hidden, weights)
        # together and last: a fit that fails leaves the model of the one before
        self.schema_, self.rbm_, self.history_ = schema, rbm, history
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """The vector of each row: P(h = 1 | answers) of each hidden unit."""
        _, answers = self._read(X)
        return inference.posteriors(self.rbm_, answers, self.n_threads).astype(np.float32, copy=False)

    def reconstruct(self, X: Any) -> Any:
        """Every answer as the vector of its row says it (the paper's first experiment), in a copy of the table."""
        table, answers = self._read(X)
        found = inference.reconstruct(self.rbm_, answers, self.n_threads)
        return table.written(encoding.decode(found, self.schema_, like=table))

    def complete(
        self,
        X: Any,
        questions: Iterable[str] | None = None,
        where: Any = None,
        flags: bool = False,
        draws: int | None = None,
        random_state: Any = None,
    ) -> Any:
        """Fill the blanks of a table, in a copy of it: each with the best answer given all that the row answers.

        Only empty cells (and codes that mean blank) are written; what a skip rule left blank stays blank.
        `questions` restricts it to some questions, `where` to some cells (a table of booleans with the same
        columns) or rows (a list of booleans). With `flags=True` a second table tells each cell that was filled: its
        row (counted from 0), question, column and value, and how sure it is: the probability of the answer (of a
        question with several columns, of that option or, of a ranking, the mean over its pairs), or the standard
        deviation of a number.

        With `draws=m` the result is a list of m tables: joint random draws of all blanks given the answers, for
        multiple imputation (`mvrbm.pool` puts together what is computed on each); `random_state` is their seed (None:
        the model's).
        """
        table, answers = self._read(X)
        chosen = self._chosen(questions)
        only = None if where is None else self._cells(where, table)
        if draws is None:
            filled, sure = inference.complete(self.rbm_, answers, chosen, self.n_threads, certain=flags)
            frame, written = self._filled(table, answers, filled, chosen, only)
            return (frame, self._flags(frame, written, sure)) if flags else frame
        if flags:
            raise ValueError("flags tell how sure the best answers are; random draws have none: leave one of them out")
        self._check_number("draws", draws, 1, whole=True)
        drawn = inference.draw(self.rbm_, answers, draws, self._seed(random_state), self.n_threads)
        return [self._filled(table, answers, each, chosen, only)[0] for each in drawn]

    def sample(self, n_samples: int = 1, *, given: Mapping[str, Any] | None = None, random_state: Any = None) -> Any:
        """Made-up people, drawn from the model: a pandas table with the columns of its questions, without blanks.

        `given={column: cell}` holds some answers fixed. Each row is a chain of Gibbs sampling of its own.

        Rows are drawn from the model, not copied from the table it learnt from. That is no guarantee of privacy: a
        model with many hidden units can come close to people who answered in a rare way, and what it says of small
        groups is what they said. Nothing here is differentially private.
        """
        import pandas as pd

        check_is_fitted(self, "rbm_")
        self._check_number("n_samples", n_samples, 1, whole=True)
        blank = {name: np.full(n_samples, None, dtype=object) for name in self.schema_.columns}
        for name, cell in (given or {}).items():
            if name not in blank:
                raise ValueError(f"given names {name!r}, which is no column of a question; there are {some(blank)}")
            blank[name] = np.array([cell] * n_samples + [None], dtype=object)[:-1]
        answers = encoding.encode(pd.DataFrame(blank), self.schema_, self.unseen)
        (drawn,) = inference.draw(self.rbm_, answers, 1, self._seed(random_state), self.n_threads)
        self._leave_unasked(answers, drawn)
        return pd.DataFrame(encoding.decode(drawn, self.schema_)).infer_objects()

    def _filled(
        self,
        table: Table,
        answers: Answers,
        filled: Answers,
        chosen: NDArray[np.bool_],
        only: dict[str, NDArray[np.bool_]] | None,
    ) -> tuple[Any, dict[str, NDArray[np.bool_]]]:
        """The table with the blanks of the chosen questions filled, and which cells were."""
        self._leave_unasked(answers, filled, ~chosen)
        return encoding.fill(table, self.schema_, answers, filled, only)

    def _leave_unasked(self, answers: Answers, filled: Answers, not_chosen: NDArray[np.bool_] | None = None) -> None:
        """Blank again what nobody was asked, also where the answer before it was filled just now."""
        put = encoding.asked(filled, self.schema_)
        pairs = zip(encoding.raw_blocks(filled, self.schema_), encoding.raw_blocks(answers, self.schema_), strict=True)
        for place, ((question, block), (_, before)) in enumerate(pairs):
            leave = ~put[question.name] | (not_chosen is not None and bool(not_chosen[place]))
            block[leave] = before[leave]

    def _seed(self, random_state: Any) -> int:
        return int(check_random_state(self.random_state if random_state is None else random_state).randint(2**31 - 1))

    def predict(self, X: Any, question: str | None = None) -> Any:
        """The best answer to a question (None: to every one) given whatever else each row answers.

        One column comes as an array, several (and every question) as a table; the row's own answer to a question
        plays no part in its prediction.
        """
        table, answers = self._read(X)
        asked = self._chosen(None if question is None else [question])
        found = inference.predict(self.rbm_, answers, np.flatnonzero(asked).tolist(), self.n_threads)
        columns = encoding.decode(found, self.schema_)
        if question is None:
            return table.written(columns)
        own = {name: columns[name] for name in self.schema_[question].columns}
        return next(iter(own.values())) if len(own) == 1 else table.only(own)

    def predict_proba(self, X: Any, question: str | None = None) -> Any:
        """The probability of each answer to a question given whatever else each row answers, as a table.

        A column for each value; for each option of a choose-any question; for each two items of a ranking, that the one
        is put before the other ("a > b"; what they lack of 1 is a tie). Of a number: mean, standard deviation,
        quantiles. Without a question, all of these side by side, each column named "question: answer".
        """
        table, answers = self._read(X)
        columns: dict[str, Any] = {}
        for place in np.flatnonzero(self._chosen(None if question is None else [question])):
            names, p = inference.chances(self.rbm_, answers, int(place), self.n_threads)
            before = f"{self.schema_.names[place]}: " if question is None else ""
            columns |= {f"{before}{name}": p[:, n] for n, name in enumerate(names)}
        return table.only(columns)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """The mean log-probability of each row's answers, each given the row's others; NaN for a row without any."""
        _, answers = self._read(X)
        return inference.log_scores(self.rbm_, answers, self.n_threads)

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean of `score_samples` over the rows that answer anything, by their weight."""
        table, answers = self._read(X)
        scores = inference.log_scores(self.rbm_, answers, self.n_threads)
        weights = self._weights(table, self.schema_, sample_weight) if self._has_weights(table, sample_weight) else None
        there = ~np.isnan(scores)
        if not there.any():
            raise ValueError("no row answers any question, so there is nothing to score")
        return float(np.average(scores[there], weights=None if weights is None else weights[there]))

    def feature_answers(self, n_answers: int = 5) -> Any:
        """For each hidden unit, the answers that it raises and lowers most, as a labelled pandas table."""
        import pandas as pd

        frame = self.parameters_frame()
        parts = []
        for k in range(self.rbm_.n_hidden):
            own = frame[["question", "answer", f"W{k}"]].rename(columns={f"W{k}": "weight"})
            own = own.sort_values("weight", kind="stable")
            ends = [own.iloc[::-1].head(n_answers), own.head(n_answers)]
            for effect, end in zip(("raises", "lowers"), ends, strict=True):
                sign = end["weight"] > 0 if effect == "raises" else end["weight"] < 0
                parts.append(end[sign].assign(feature=f"mvrbm{k}", effect=effect))
        columns = ["feature", "effect", "question", "answer", "weight"]
        return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)

    def parameters_frame(self) -> Any:
        """The parameters as a labelled pandas table: a row for each feature, its bias U and weights W0, W1, ..."""
        import pandas as pd

        check_is_fitted(self, "rbm_")
        visible, p = self.rbm_.visible, self.rbm_.parameters
        ends = [*visible.feature_start[1:], visible.n_features]
        rows = []
        for place, (start, stop) in enumerate(zip(visible.feature_start, ends, strict=True)):
            question = visible.questions[visible.question_order[place]]
            rows += [(question.name, question.kind, answer) for answer in question.feature_names(stop - start)]
        frame = pd.DataFrame(rows, columns=["question", "kind", "answer"]).assign(U=p.U)
        weights = pd.DataFrame(p.W, columns=[f"W{k}" for k in range(self.rbm_.n_hidden)])
        return pd.concat([frame, weights], axis=1)

    def _read(self, X: Any) -> tuple[Table, Answers]:
        """The table and its answers, once the model is fitted."""
        check_is_fitted(self, "rbm_")
        table, schema = self._table(X, reset=False)
        return table, encoding.encode(table, schema, self.unseen, absent="missing")

    def _chosen(self, questions: Iterable[str] | None) -> NDArray[np.bool_]:
        """Mark the questions that are named; all if none is."""
        names = self.schema_.names
        if questions is None:
            return np.ones(len(names), dtype=bool)
        wanted = [questions] if isinstance(questions, str) else list(questions)
        for name in wanted:
            if name not in names:
                near = difflib.get_close_matches(str(name), names, n=1)
                instead = f"did you mean {near[0]!r}?" if near else f"there are {some(names)}"
                raise ValueError(f"no question is named {name!r}; {instead}")
        return np.isin(names, wanted)

    @staticmethod
    def _cells(where: Any, table: Table) -> dict[str, NDArray[np.bool_]]:
        """The cells that may be filled, by column."""
        if is_into_dataframe(where):
            told = Table(where)
            cells = {name: np.asarray(told.cells(name), dtype=bool) for name in told.names}
        else:
            array = np.asarray(where, dtype=bool)
            by_row = array.ndim == 1
            if not by_row and array.shape[1:] != (len(table.names),):
                raise ValueError(f"where has the shape {array.shape}, but the table has {len(table.names)} columns")
            cells = {name: array if by_row else array[:, place] for place, name in enumerate(table.names)}
        if any(len(mask) != table.n_rows for mask in cells.values()):
            raise ValueError(f"where must say for each of the {table.n_rows} rows whether it may be filled")
        return cells

    def _flags(self, frame: Any, written: dict[str, NDArray[np.bool_]], sure: NDArray[np.float32]) -> Any:
        """List the cells that were filled, and how sure each is."""
        import pandas as pd

        table = Table(frame)
        parts = []
        for question, own in encoding.certainties(sure, self.schema_):
            for place, name in enumerate(question.columns):
                rows = np.flatnonzero(written.get(name, np.zeros(0, dtype=bool)))
                certainty = own[rows, place] if own.shape[1] == len(question.columns) else np.nanmean(own[rows], axis=1)
                values = [table.cells(name)[row] for row in rows]
                told = {"row": rows, "question": question.name, "column": name, "value": values, "certainty": certainty}
                parts.append(pd.DataFrame(told).astype({"value": object}))
        filled = [part for part in parts if len(part)]
        empty = pd.DataFrame(columns=["row", "question", "column", "value", "certainty"])
        return (
            pd.concat(filled, ignore_index=True).sort_values("row", kind="stable", ignore_index=True)
            if filled
            else empty
        )

    def _has_weights(self, table: Table, sample_weight: ArrayLike | None) -> bool:
        return sample_weight is not None or (self.schema_.weight is not None and self.schema_.weight in table)

    def _table(self, X: Any, reset: bool) -> tuple[Table, Schema]:
        """The table and its questions: the given ones, those of the fit, or a guess.

        Without a schema, arrays and tables that are all numbers follow scikit-learn's rules about widths and names.
        """
        if self.schema is not None and not isinstance(self.schema, Schema):
            raise TypeError(f"schema must be a Schema([...]), not {type(self.schema).__name__}")
        if self.schema is not None:
            return Table(X), self.schema if reset else self.schema_
        if not is_into_dataframe(X):
            array = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
            table = Table(array)
            return table, _schema_of_array(array, table) if reset else self.schema_
        table = Table(X)
        if table.all_numbers:
            validate_data(self, X, reset=reset, skip_check_array=True)
        return table, Schema.infer(table) if reset else self.schema_

    @property
    def _n_features_out(self) -> int:
        return self.rbm_.n_hidden

    def __sklearn_tags__(self) -> Any:
        """Blanks are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _visible(self, answers: Answers, schema: Schema, weights: NDArray[np.float64] | None) -> Visible:
        questions = list(schema)
        return Visible(questions, summarise(answers, questions, weights), paper=self.recipe == "paper")

    def _settings(self) -> Settings:
        """The recipe with what was set by hand, once it is sure to make sense."""
        if self.recipe not in RECIPES:
            raise ValueError(f"recipe must be one of {', '.join(map(repr, RECIPES))}, not {self.recipe!r}")
        self._check_number("n_hidden", self.n_hidden, 0, whole=True)
        given = {name: getattr(self, name) for name in Settings.__dataclass_fields__ if hasattr(self, name)}
        given = {name: value for name, value in given.items() if value is not None}
        for name, choices in _CHOICES.items():
            if given.get(name, choices[0]) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {given[name]!r}")
        for name in ("gibbs_steps", "n_chains", "batch_size", "patience", "n_threads"):
            self._check_number(name, given.get(name, 1), 1, whole=True)
        self._check_number("max_epochs", given.get("max_epochs", 1), 0, whole=True)
        for name in ("learning_rate", "l2", "momentum"):
            self._check_number(name, given.get(name, 0), 0)
        for name, least, most in (("hidden_share", 0, 1), ("momentum", -1, 1)):
            if not least < given.get(name, 0.1) < most:
                raise ValueError(f"{name} must lie below {most} and above {max(least, 0)}, not {given[name]!r}")
        if given.get("early_stopping", True) not in (True, False):
            raise ValueError(f"early_stopping must be True or False, not {given['early_stopping']!r}")
        return replace(RECIPES[self.recipe], seed=self._seed(None), **given)

    def _weights(self, table: Table, schema: Schema, sample_weight: ArrayLike | None) -> NDArray[np.float64] | None:
        if sample_weight is None:
            return encoding.weights(table, schema)
        weights = np.asarray(sample_weight, np.float64)
        if weights.shape != (table.n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError(f"sample_weight must be {table.n_rows} finite numbers, 0 or more")
        if not weights.any():
            raise ValueError("every sample_weight is zero, so no row counts; give some row a weight above 0")
        return weights

    @staticmethod
    def _check_number(name: str, value: Any, least: int, whole: bool = False) -> None:
        kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < np.inf:
            kind = "whole number" if whole else "finite number"
            raise ValueError(f"{name} must be a {kind}, {least} or more, not {value!r}")

    def _say(self, epoch: int, entry: dict[str, float]) -> None:
        said = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in entry.items())
        print(f"epoch {epoch + 1}: {said}", file=sys.stderr)


def _schema_of_array(array: NDArray[Any], table: Table) -> Schema:
    """Take floats for numbers and guess the rest; a column that never varies is set aside, unless there is one row."""
    if array.dtype.kind != "f":
        return Schema.infer(table)
    varies = np.fmin.reduce(array) < np.fmax.reduce(array) if len(array) > 1 else np.ones(array.shape[1], dtype=bool)
    return Schema.infer(table, dict(zip(np.array(table.names)[varies].tolist(), itertools.repeat("continuous"))))
