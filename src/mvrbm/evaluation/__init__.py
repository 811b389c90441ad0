"""How well a model finds answers again that were hidden from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mvrbm import encoding
from mvrbm.answers import Answers
from mvrbm.estimators import MVRBM
from mvrbm.evaluation import others
from mvrbm.metrics import errors_by_kind, errors_by_question
from mvrbm.schema import Schema
from mvrbm.summary import summarise
from mvrbm.tables import Table
from mvrbm.training.stopping import hide
from mvrbm.units import KINDS
from mvrbm.visible import Visible

if TYPE_CHECKING:
    import pandas as pd

Guesser = Callable[[], Answers]


def evaluate(
    data: Any,
    schema: Schema | None = None,
    *,
    share: float = 0.2,
    compare: bool = False,
    by_question: bool = False,
    random_state: int = 0,
    **settings: Any,
) -> pd.DataFrame:
    """Hide a share of each person's answers, let models learn from the rest, and tell how far their guesses are off.

    The result is a pandas table with a row for each kind of question (`by_question=True`: for each question), the
    number of answers that were hidden, and the error of each model as `mvrbm.metrics` defines it for the kind: the
    baseline, which knows only how often each answer is given, and `MVRBM(**settings)`. `compare=True` adds
    scikit-learn's KNNImputer, IterativeImputer and a gradient-boosted model for each question, as a practitioner would
    use them. Rows count by the schema's weight. `frame.attrs["seconds"]` tells how long each took.

    >>> from mvrbm.datasets import make_survey
    >>> frame, schema = make_survey(200, random_state=0)
    >>> list(evaluate(frame, schema, n_hidden=5, max_epochs=2).columns)
    ['hidden', 'baseline', 'mvrbm']
    """
    import pandas as pd

    trial = Trial(data, schema, share, random_state)
    models = {"baseline": trial.mvrbm(**{**settings, "n_hidden": 0}), "mvrbm": trial.mvrbm(**settings)}
    models |= trial.others() if compare else {}
    found: dict[str, Any] = {"hidden": trial.counts(by_question)}
    seconds = {}
    for name, guess in models.items():
        begun = time.perf_counter()
        guessed = guess()
        seconds[name] = round(time.perf_counter() - begun, 1)
        found[name] = trial.errors(guessed, by_question)
    frame = pd.DataFrame(found)
    if by_question:
        frame = frame.reindex([name for name in trial.schema.names if name in frame.index])
        frame.insert(0, "kind", [trial.schema[name].kind for name in frame.index])
    else:
        frame = frame.reindex([kind.kind for kind in KINDS if kind.kind in found["baseline"]])
    frame.attrs["seconds"] = seconds
    return frame


class Trial:
    """A table of which a share of each person's answers is hidden, for models to find."""

    def __init__(self, data: Any, schema: Schema | None = None, share: float = 0.2, random_state: int = 0) -> None:
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share < 1:
            raise ValueError(f"share must lie between 0 and 1, not {share!r}")
        table = Table(data)
        schema = (Schema.infer(table) if schema is None else schema).learn(table)
        answers = encoding.encode(table, schema)
        questions = list(schema)
        self.seed = random_state
        self.weights = encoding.weights(table, schema)
        self.hidden = hide(answers, Visible(questions, summarise(answers, questions)), share, random_state)
        if not self.hidden.any:
            raise ValueError("no answer could be hidden: people answer too few questions for this share")
        self.visible = Visible(questions, summarise(self.hidden.kept, questions, self.weights))
        self.kept, self.schema = _as_table(self.hidden.given, schema)
        """The table that models learn from, and the schema that reads it."""

    def mvrbm(self, **settings: Any) -> Guesser:
        """What `MVRBM` with these settings guesses."""

        def fit_and_complete() -> Answers:
            model = MVRBM(schema=self.schema, random_state=self.seed, **settings)
            model.fit(self.kept, sample_weight=self.weights)
            return encoding.encode(model.complete(self.kept), self.schema)

        return fit_and_complete

    def others(self) -> dict[str, Guesser]:
        """What scikit-learn guesses, by the names of its ways."""
        return others.guessers(self.schema, self.hidden, self.seed)

    def errors(self, guessed: Answers, by_question: bool = False) -> dict[str, float]:
        """How far guesses are off, by type or by question."""
        import pandas as pd

        # each as a table would say it
        said = encoding.encode(pd.DataFrame(encoding.decode(guessed, self.schema)), self.schema)
        errors = errors_by_question if by_question else errors_by_kind
        return errors(self.visible, said, self.hidden.hidden, self.weights)

    def counts(self, by_question: bool = False) -> dict[str, int]:
        """The number of people who had an answer to each kind of question, or to each question, hidden."""
        visible, hidden = self.visible, self.hidden
        answered: NDArray[np.bool_] = visible.answered(visible.load(hidden.hidden, np.arange(hidden.hidden.n_rows)))
        counts: dict[str, int] = {}
        for place, n in zip(visible.question_order, answered.sum(axis=1), strict=True):
            question = visible.questions[place]
            key = question.name if by_question else question.kind
            counts[key] = counts.get(key, 0) + int(n)
        return counts


def table_of_errors(errors: pd.DataFrame) -> str:
    """The errors of `evaluate` in per cent, with what they mean, to be read."""
    models = list(errors.attrs["seconds"])
    means = {kind.kind: kind.error_means for kind in KINDS}
    first = max(18, *(len(str(name)) for name in errors.index)) + 1

    def line(name: str, cells: Iterable[str], after: str = "") -> str:
        together = "".join(f"{cell:>{max(len(model), 8) + 2}}" for model, cell in zip(models, cells, strict=True))
        return f"{name:{first}}{together}  {after}".rstrip()

    kinds = errors.get("kind", errors.index)
    lines = [line("error in per cent", models)]
    for (name, row), kind in zip(errors[models].iterrows(), kinds, strict=True):
        lines.append(line(str(name), [f"{100 * error:.1f}" for error in row], means[kind]))
    seconds = errors.attrs["seconds"].values()
    return "\n".join([*lines, line("seconds", [f"{second:.1f}" for second in seconds])])


def _as_table(kept: Answers, schema: Schema) -> tuple[Any, Schema]:
    """Write the answers that were kept as a table, and the schema by which it says exactly these.

    Where an empty cell is an answer, a hidden one needs a code of its own. Skip rules are left out: what was hidden had
    been asked.
    """
    import pandas as pd

    for code in (None, "(hidden)"):
        questions = []
        for question, block in encoding.blocks(kept, schema):
            told = question.without_rule()
            again = told.encode(told.decode(block))
            if code is not None and not np.array_equal(again, block, equal_nan=question.n_numbers > 0):
                told = told.with_missing(code)
            questions.append(told)
        schema = Schema(questions)
    return pd.DataFrame(encoding.decode(kept, schema)), schema


__all__ = ["Trial", "evaluate", "table_of_errors"]
