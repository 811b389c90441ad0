"""`MVRBM`: the joint model of all questions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mvrbm import blanks, encoding, inference, likelihood
from mvrbm.answers import Answers
from mvrbm.cells import some
from mvrbm.estimators.base import Estimator
from mvrbm.parts import in_parts, streamed
from mvrbm.rbm import RBM
from mvrbm.tables import Table
from mvrbm.training import Memory, bootstrapped, train


class MVRBM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):  # type: ignore[misc]
    """One probability model over questions of every type, blanks anywhere.

    Settings left at None are those of the recipe. "default" is ours, told below; "paper" is the model and the training
    of Tran, Phung and Venkatesh to the letter (CD-1, plain SGD at a rate of 0.1, batches of 100, 50 epochs, no
    early stopping).

    Parameters
    ----------
    n_hidden
        Hidden units: the length of the vector that a person becomes. "auto" is one for every 50 people, but at
        most five for each question, and 50 to 200; 0 is the baseline that knows only how often each answer is given.
    schema
        The questions of the table. None: they are guessed by `Schema.infer` (`print(model.schema_)` shows what and
        why); the columns of an array of floats are continuous. With a schema, columns are matched by name.
    recipe
        "default" or "paper".
    objective
        "masked" (the default: random parts of each row are hidden, and learnt to be told from the rest), "cd"
        (contrastive divergence) or "pcd" (with persistent chains).
    gibbs_steps
        Sweeps of a chain in each step: 1.
    missing
        What a blank means in training: "ignore" (the default) leaves it out, "hidden" draws it given the answers.
        "pcd" always draws it. (Codes that mean blank are told by `missing=[...]` of a question.)
    answered
        Whether the model is told which questions a row answers, beside the answers: skip rules and refusals say
        something, too. True unless the objective is another than "masked".
    links
        Direct links of each question to as many others, those most associated with it (6; 0: none), beside the
        hidden units; and, with `answered`, as many from being answered. With "masked" only.
    n_models
        Machines that are trained from different seeds; predictions are by the mean of what they say, and with "masked"
        draws are of each in turn. Vectors and samples are of the first. Once early stopping has told how long
        that one learns, and it is refitted, the others learn as long, in one run from all answers. None: with "masked"
        1 for fewer than 20 questions, 2 for fewer than 40, else 3, but no more than 2 where the first learns for 3,750
        steps (75 epochs of 3,200 to 25,600 rows), and 1 from 7,500 on; of predictors, unless they are "generative", 3;
        else 1.
    n_chains
        Persistent chains, for "pcd": 256.
    optimiser
        "adam" (the default) or "sgd".
    learning_rate
        The size of the first steps. None: 0.02, for other objectives than "masked" 0.01, less for more than 50 hidden
        units; in the recipe of the paper 0.1, less for more than 100. With "masked", one that is not given is doubled
        where the loss still falls, beneath its noise, after some 20 epochs and 1,000 steps; up to twice.
    momentum
        That of "sgd": 0.
    schedule
        How the learning rate goes on: "constant" (the default), "linear" or "cosine", the latter two down to 0 at
        `max_epochs`; with "masked" less is hidden as it falls.
    l2
        The shrinkage of the weights as a part of the objective: 0.
    decay
        The shrinkage of small weights in each step, as a share of the learning rate (0.8); weights far above 0.2 are
        left alone. With "masked" only.
    batch_size
        Rows in a step. None: a fiftieth of the table, 64 to 512.
    max_epochs
        The most passes over the table: 200.
    early_stopping
        Whether to hide some answers from training, and to stop when they are no longer predicted better (the default).
        The parameters are those of the best epoch.
    hidden_share
        The share of answers that is hidden for early stopping, of up to 4,000 people: 0.1.
    patience
        Epochs in which the hidden answers may be predicted no better (4, and at least 100 steps). It goes on all the
        same while the mean loss of the last quarter of the epochs at this rate, and of at least as many as that, is
        lower than that of as many before, by 0.0005, and for 12 epochs after the rate was doubled. Then the learning
        rate falls to 0.3 of what it was, and after the second time training ends (the third, if nothing follows).
    refit_epochs
        Further epochs with all answers, in which the rate falls to 0, once early stopping has found the best one: 50,
        fewer where these are more than 2,500 steps, but at least 25. With "masked" only.
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
        What happened in training: for each epoch its learning rate; its loss, minus the mean log-probability of an
        answer that was hidden from training; its `free_energy_gap`, how much higher the free energy is of rows with
        hidden answers than of rows with as many that training saw (without early stopping there are neither).
        `start_loss`, that of the marginals; `best_epoch`, whose parameters the model has (0: those of the start);
        `stopped`, why training ended; `undone`, how often it went astray and was taken back.
    rbm_
        The machine: its parameters, posterior, free energy and samples.
    log_z_error_
        After `score_samples(kind="ais")`: the standard error of each row's log-probability.

    Examples
    --------
    >>> from mvrbm.datasets import make_survey
    >>> frame, schema = make_survey(200, random_state=0)
    >>> model = MVRBM(n_hidden=4, schema=schema, max_epochs=3, random_state=0).fit(frame)
    >>> model.transform(frame).shape
    (200, 4)

    """

    _memory: Memory | None = None

    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn the model of a table; `sample_weight` or the schema's weight column says how much each row counts.

        The table may be larger than memory: a Parquet file, a folder of them, a pattern (`survey/*.parquet`) or an
        iterator of frames. It is read a part at a time, put in compact form into a temporary folder and trained
        from there; the model is the same, bit for bit, as of the table in memory. Without a schema the questions are
        guessed from the first 65,536 rows.

        With `checkpoint`, a folder, training is saved there as it goes. The same fit run again, whatever ended the
        first, goes on from there and ends with the same model, bit for bit; `random_state` must be a number.
        """
        saved = self._checkpoint(checkpoint)
        settings = self._settings()
        with self._or_as_before(), self._answers(X, sample_weight) as (schema, answers, weights):
            rbm, history = self._train_joint(answers, schema, weights, settings, saved)
            self.schema_, self.rbm_, self.history_, self._memory = schema, rbm, history, None
        return self

    def partial_fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Go on learning with one pass over a table, which may be a further part of one that comes in parts.

        The first part says what the questions and their values are, unless the schema does, and sets the scale and
        steps of numbers, and the number of hidden units where it is "auto". There is no early stopping: how many parts
        and passes are enough is for the caller to judge. It is one machine that learns; after `fit`, the further ones
        (`n_models`) are let go.
        """
        settings = replace(self._settings(), max_epochs=1, early_stopping=False)
        first = not hasattr(self, "rbm_")
        with self._answers(X, sample_weight, None if first else self.schema_) as (schema, answers, weights):
            rbm = self._start(answers, schema, weights, settings) if first else self.rbm_
            rbm.others.clear()
            if first or self._memory is None or not self._memory.fits(settings):
                self._memory = Memory.new(settings, rbm)
            memory, workers = self._memory, self._workers
            history = train(rbm, answers, settings, weights, self._progress, memory=memory, workers=workers)
            inference.tune(rbm, self._hide(answers, rbm.visible, settings, weights), weights)
        if not first:
            self.history_.epochs += history.epochs
        self.schema_, self.rbm_, self.history_ = schema, rbm, history if first else self.history_
        return self

    def transform(self, X: Any, output: str | os.PathLike[str] | None = None) -> Any:
        """The vector of each row: P(h = 1 | answers) of each hidden unit.

        Of a Parquet file, a folder of them or a pattern, the vectors are written to `output`, a file for each; it tells
        which. Of an iterator of frames comes an iterator of vectors.
        """
        if in_parts(X):
            return streamed(X, output, self.transform if output is None else self._vectors)
        _, answers = self._read(X)
        return inference.posteriors(self.rbm_, answers, self.n_threads).astype(np.float32, copy=False)

    def _vectors(self, X: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(self.transform(X), columns=list(self.get_feature_names_out()))

    def _as_table(self, found: Any, question: str | None) -> Any:
        """What `predict` found, as a table also if it is one column."""
        import pandas as pd

        if question is None or hasattr(found, "columns"):
            return found
        return pd.DataFrame(found, columns=self.schema_[question].columns)

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
        output: str | os.PathLike[str] | None = None,
        bootstrap: bool = False,
        sample_weight: ArrayLike | None = None,
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
        the model's). The machines of `n_models` draw in turn. With `bootstrap=True` each draw is by a machine that was
        refitted, for `refit_epochs` (25 if these are None) or 200 steps, on rows of the table drawn with replacement:
        then the draws differ by what could not be known of the model, too, as intervals that are pooled should allow
        for. That is for the table that was learnt from, with the `sample_weight` of its fit if there was one, and each
        draw takes a good part of the time of a fit; with "masked" only.

        A Parquet file, a folder of them or a pattern is filled a part at a time into `output`, a file for each, all
        columns in the types that they have (whole numbers become others where an answer may be a fraction); it tells
        which files. Of an iterator of frames comes an iterator of filled ones.
        """
        if in_parts(X):
            if where is not None or flags or draws is not None or bootstrap:
                raise ValueError(
                    "where, flags, draws and bootstrap are for a table in memory; leave them out, or read a part"
                )
            check_is_fitted(self, "rbm_")
            return streamed(X, output, lambda frame: self.complete(frame, questions), self.schema_)
        table, answers = self._read(X)
        names = self.schema_.names
        chosen = np.isin(names, names if questions is None else self._named(questions, self.schema_))
        only = None if where is None else blanks.cells_told(where, table)
        if draws is None:
            if bootstrap:
                raise ValueError("bootstrap=True is about random draws; say how many (draws=10), or leave it out")
            filled, sure = inference.complete(self.rbm_, answers, chosen, self.n_threads, certain=flags)
            frame, written = blanks.fill(table, self.schema_, answers, filled, chosen, only)
            return (frame, blanks.flags(frame, self.schema_, written, sure)) if flags else frame
        if flags:
            raise ValueError("flags tell how sure the best answers are; random draws have none: leave one of them out")
        self._check_number("draws", draws, 1, whole=True)
        seed = self._seed(random_state)
        rbm = self._bootstrapped(table, answers, sample_weight, draws, seed) if bootstrap else self.rbm_
        drawn = inference.draw(rbm, answers, draws, seed, self.n_threads)
        return [blanks.fill(table, self.schema_, answers, each, chosen, only)[0] for each in drawn]

    def _bootstrapped(
        self, table: Table, answers: Answers, sample_weight: ArrayLike | None, draws: int, seed: int
    ) -> RBM:
        """Machines refitted on bootstraps of a table, one for each draw: the first, and the others beside it."""
        settings = self._settings()
        if settings.refit_epochs == 0 or not self.rbm_.n_hidden:
            raise ValueError(
                'bootstrap=True refits the machines: it needs objective="masked", hidden units and refit_epochs above 0'
            )
        given = self._has_weights(table, sample_weight)
        weights = self._weights(table, self.schema_, sample_weight) if given else None
        machines = (self.rbm_, *self.rbm_.others)
        first, *others = (
            bootstrapped(machines[number % len(machines)], answers, replace(settings, seed=seed + number), weights)
            for number in range(draws)
        )
        first.others = others
        return first

    def sample(self, n_samples: int = 1, *, given: Mapping[str, Any] | None = None, random_state: Any = None) -> Any:
        """Made-up people, drawn from the model: a pandas table with the columns of its questions, without blanks.

        `given={column: cell}` holds some answers fixed. Each row is drawn by itself: a question at a time given the
        others, again and again or, for other objectives than "masked", by a chain of Gibbs sampling.

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
        table = Table(pd.DataFrame(blank))
        answers = encoding.encode(table, self.schema_, self.unseen)
        seed = self._seed(random_state)
        (drawn,) = inference.draw(self.rbm_, answers, 1, seed, self.n_threads, made_up=True)
        every = np.ones(len(self.schema_), dtype=bool)
        return blanks.fill(table, self.schema_, answers, drawn, every)[0].infer_objects()

    def predict(
        self,
        X: Any,
        question: str | None = None,
        how: str | None = None,
        output: str | os.PathLike[str] | None = None,
    ) -> Any:
        """The best answer to a question (None: to every one) given whatever else each row answers.

        One column comes as an array, several (and every question) as a table; the row's own answer to a question
        plays no part in its prediction. `how` is explained at `predict_proba`. A table in parts is dealt with as by
        `complete`.
        """
        if in_parts(X):
            return streamed(X, output, lambda frame: self._as_table(self.predict(frame, question, how), question))
        table, answers = self._read(X)
        names = self.schema_.names if question is None else self._named([question], self.schema_)
        return self._predicted(table, answers, names, whole=question is None, how=how)

    def predict_proba(
        self,
        X: Any,
        question: str | None = None,
        how: str | None = None,
        output: str | os.PathLike[str] | None = None,
    ) -> Any:
        """The probability of each answer to a question given whatever else each row answers, as a table.

        A column for each value; for each option of a choose-any question; for each two items of a ranking, that the one
        is put before the other ("a > b"; what they lack of 1 is a tie). Of a number: mean, standard deviation,
        quantiles. Without a question, all of these side by side, each column named "question: answer".

        `how` the hidden units are dealt with: "exact" sums over them (paper section 3.2); "mean-field" takes them at
        their posterior given the other answers; "iterated" lets them and the answer settle on each other (paper,
        appendix). Left out, it is what fits the objective: "mean-field" for "masked", "exact" for the others. A table
        in parts is dealt with as by `complete`.
        """
        if in_parts(X):
            return streamed(X, output, lambda frame: self.predict_proba(frame, question, how))
        table, answers = self._read(X)
        names = self.schema_.names if question is None else self._named([question], self.schema_)
        return self._probabilities(table, answers, names, named=question is None, how=how)

    def score_samples(self, X: Any, kind: str = "answers") -> NDArray[np.float64]:
        """How probable each row is.

        "answers" is the mean log-probability of a row's answers, each given the row's others: exact and cheap; NaN for
        a row without any. "ais" is the log-probability of the whole row, in the machine of the questions that it
        answers: by annealed importance sampling once for each pattern of blanks (exactly, up to 10 hidden units without
        links). Then `log_z_error_` is the standard error of each row's.
        """
        _, answers = self._read(X)
        if kind == "answers":
            return inference.log_scores(self.rbm_, answers, self.n_threads)
        if kind != "ais":
            raise ValueError(f"kind must be 'answers' or 'ais', not {kind!r}")
        found, self.log_z_error_ = likelihood.row_log_probabilities(
            self.rbm_, answers, self.n_threads, self._seed(None)
        )
        return found

    def score(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The mean of `score_samples` over the rows that answer anything, by their weight."""
        table, answers = self._read(X)
        return self._mean_score(inference.log_scores(self.rbm_, answers, self.n_threads), table, sample_weight)

    def feature_answers(self, n_answers: int = 5) -> Any:
        """For each hidden unit, the answers that it raises and lowers most, as a labelled pandas table."""
        import pandas as pd

        visible = self.rbm_.visible
        shown = self.parameters_frame().loc[~visible.for_hidden_units, ["question", "answer"]]
        parts: list[Any] = []
        for weight in visible.effects(self.rbm_.parameters.W).T:
            own = shown.assign(weight=weight)
            own = own.sort_values("weight", kind="stable")
            ends = [own.iloc[::-1].head(n_answers), own.head(n_answers)]
            for effect, end in zip(("raises", "lowers"), ends, strict=True):
                sign = end["weight"] > 0 if effect == "raises" else end["weight"] < 0
                parts.append(end[sign].assign(feature=f"mvrbm{len(parts) // 2}", effect=effect))
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

    @property
    def _n_features_out(self) -> int:
        return self.rbm_.n_hidden

    def __sklearn_tags__(self) -> Any:
        """Vectors are float32, whatever the table is."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
