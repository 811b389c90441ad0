"""The kinds of questions: one file each, and one list of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mvrbm.units.binary import Binary
from mvrbm.units.categorical import Categorical
from mvrbm.units.continuous import Continuous
from mvrbm.units.multicategorical import Multicategorical
from mvrbm.units.ordinal import Ordinal
from mvrbm.units.question import Question
from mvrbm.units.ranking import Ranking

KINDS = (Binary, Categorical, Multicategorical, Continuous, Ordinal, Ranking)


def question_from_dict(data: Mapping[str, Any]) -> Question:
    """Rebuild the question, of any kind, that `Question.to_dict` wrote."""
    for kind in KINDS:
        if kind.kind == data.get("kind"):
            return kind.from_dict(data)
    kinds = ", ".join(kind.kind for kind in KINDS)
    raise ValueError(f"question {data.get('name')!r}: unknown kind {data.get('kind')!r}; the kinds are {kinds}")


__all__ = [
    "KINDS",
    "Binary",
    "Categorical",
    "Continuous",
    "Multicategorical",
    "Ordinal",
    "Question",
    "Ranking",
    "question_from_dict",
]
