"""Ordinal questions: one level of a scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mvrbm.cells import Value, some
from mvrbm.kernels import levels
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, Index, Scored
from mvrbm.units.categorical import OneAnswer
from mvrbm.units.levels import LevelBlock
from mvrbm.units.question import Columns

BASES = (None, "free", "paper", "stereotype")


class Ordinal(OneAnswer):
    """A question whose answers are levels of a scale, lowest first.

    Left out, `values` are learnt and sorted, which is right for numbers; give texts in their order.
    `basis` says how a level acts on the hidden layer (None: as the model's recipe has it) and `dimension`
    how many directions a "stereotype" basis has.

    >>> Ordinal("agrees", values=["no", "rather not", "rather", "yes"], basis="stereotype", dimension=2)
    Ordinal('agrees', values=['no', 'rather not', 'rather', 'yes'], basis='stereotype', dimension=2)
    """

    kind = "ordinal"
    spoken = "scales"
    ordered = True
    measure = "ordinal"
    loss = "absolute"
    error_means = "of the scale's length, on average"

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return OrdinalBlock

    least = 2

    def __init__(
        self,
        name: str,
        values: Iterable[Value] | None = None,
        *,
        basis: str | None = None,
        dimension: int | None = None,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
        label: str = "",
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__(name, values, missing=missing, asked_if=asked_if, label=label, labels=labels)
        if basis not in BASES:
            raise self._error(f"basis must be one of {BASES}, not {basis!r}")
        if dimension is not None and (not isinstance(dimension, int) or dimension < 1 or basis != "stereotype"):
            raise self._error(f'dimension must be a whole number above 0 with basis="stereotype", not {dimension!r}')
        if dimension is not None and self.values is not None and dimension > len(self.values):
            raise self._error(f"dimension must be at most its {len(self.values)} values, not {dimension!r}")
        self.basis = basis
        self.dimension = dimension

    def _learnt(self, found: Iterable[Value], columns: Columns) -> list[Value]:
        values = super()._learnt(found, columns)
        if any(isinstance(value, str) for value in values):
            order = "its values are texts, whose order a table does not tell"
            raise self._error(f"{order}; give values=[...] of {some(values)}")
        return values


def level_basis(question: Ordinal, paper: bool) -> NDArray[np.float64]:
    """Phi, (levels, dimensions), of an ordinal question.

    free: the identity, which can represent any distribution over the levels. paper: phi_d(m) = (m - d)/(M - 1), D = M
    (paper Eq. 8); the part that does not depend on m still enters P(h|v). stereotype: rising powers of the
    level's place, D <= M, beside free biases of the levels.
    """
    M = question.n_values
    m = np.arange(1, M + 1)[:, None]
    match _kind_of_basis(question, paper):
        case "free":
            return np.eye(M)
        case "paper":
            return (m - np.arange(1, M + 1)) / (M - 1)
        case _:
            return ((m - 1) / (M - 1)) ** np.arange(1, (question.dimension or min(2, M)) + 1)


def _kind_of_basis(question: Ordinal, paper: bool) -> str:
    return question.basis or ("paper" if paper else "free")


class OrdinalBlock(LevelBlock):
    """Questions with ordered answers: a softmax over levels whose logits are Phi z (paper Eq. 8)."""

    def __init__(self, questions: Sequence[Ordinal], summary: Summary, paper: bool) -> None:
        kinds = [_kind_of_basis(q, paper) for q in questions]
        sizes = [q.n_values for q in questions]
        A = C = None
        if set(kinds) != {"free"}:
            A = sparse.block_diag([sparse.coo_array(level_basis(q, paper)) for q in questions], format="csr")
        if "stereotype" in kinds:
            biased = np.repeat(np.array(kinds) == "stereotype", sizes)
            C = sparse.eye_array(len(biased), format="csr")[:, np.flatnonzero(biased)]
        super().__init__(questions, sizes, np.arange(len(questions)), A, C)
        dimensions = [level_basis(q, paper).shape[1] for q in questions]
        self.feature_start = np.cumsum(dimensions) - dimensions
        if C is not None:
            self.base_question = np.repeat(np.arange(len(sizes)), sizes)[np.flatnonzero(biased)]
        self._kinds, self._by_mode = kinds, paper

    @property
    def places_on_scales(self) -> Array:
        """From the lowest level to the highest, where each has weights of its own; two have no middle to learn."""
        free = [kind == "free" and q.n_values > 2 for kind, q in zip(self._kinds, self.questions, strict=True)]
        ends = [*self.feature_start[1:], self.n_features]
        sizes = ends - self.feature_start
        each = [np.linspace(-1, 1, n) if on else np.full(n, np.nan) for n, on in zip(sizes, free, strict=True)]
        return np.concatenate(each)

    def natural_slope(self, base: Array) -> Array:
        return np.ones_like(base)

    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        """The median, which loses least by the absolute error; the paper takes the mode."""
        if self._by_mode:
            self.most_probable(outlook, codes)
            return
        levels.median(outlook, self.level_start, self.size, codes)

    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """The distance in levels, as a share of the scale's length."""
        return steps_and_answered(codes, true_codes, weights, self.size)


def steps_and_answered(codes: Scored, true_codes: Scored, weights: Array, n_levels: Index) -> NDArray[np.float64]:
    """For each question, the weight of the distances, as shares of the scale's length, and of all answers.

    A blank guess is as far away as an answer can be.
    """
    answered = true_codes >= 0
    far = np.broadcast_to(n_levels[:, None] - 1, true_codes.shape)
    steps = np.where(codes < 0, far, np.abs(codes - true_codes))
    distance = np.where(answered, steps, 0) @ weights / (n_levels - 1)
    return np.stack([distance, answered @ weights], axis=1)
