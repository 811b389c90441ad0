"""The kinds of questions: one file each, and one list of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from mvrbm.units.binary import Binary
from mvrbm.units.categorical import Categorical
from mvrbm.units.continuous import Continuous
from mvrbm.units.count import Count
from mvrbm.units.multicategorical import Multicategorical
from mvrbm.units.ordinal import Ordinal
from mvrbm.units.question import Question
from mvrbm.units.ranking import Ranking

KINDS = (Binary, Categorical, Multicategorical, Continuous, Ordinal, Ranking, Count)


def question_from_dict(data: Mapping[str, Any]) -> Question:
    """Rebuild the question, of any kind, that `Question.to_dict` wrote."""
    kinds = {kind.kind: kind for kind in KINDS}
    given = str(data.get("kind")).lower()
    if given in kinds:
        return kinds[given].from_dict({**data, "kind": given})
    near = difflib.get_close_matches(given, kinds, n=1)
    instead = f"did you mean {near[0]!r}?" if near else f"the kinds are {', '.join(kinds)}"
    wrong = f"unknown kind {data['kind']!r}" if "kind" in data else "it has no kind (kind: ...)"
    raise ValueError(f"question {data.get('name')!r}: {wrong}; {instead}")


__all__ = [
    "KINDS",
    "Binary",
    "Categorical",
    "Continuous",
    "Count",
    "Multicategorical",
    "Ordinal",
    "Question",
    "Ranking",
    "question_from_dict",
]
