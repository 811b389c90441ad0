"""Ranking questions: put items in an order, ties allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mvrbm.cells import (
    BLANK,
    UNSEEN,
    Cells,
    Value,
    distinct,
    distinct_rows,
    lookup,
    match,
    read,
    spelling,
    split,
    to_numbers,
)
from mvrbm.kernels.orders import by_scores, draw_orders, mend, n_draws
from mvrbm.kernels.random import Stream
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes, Index, Scored
from mvrbm.units.levels import LevelBlock
from mvrbm.units.question import Columns, Question, WrongPartError
from mvrbm.units.view import View, answered_or_nan

TIE = "="


class Ranking(Question):
    """A question that puts items in an order, written in one of three ways.

    - `ranks={item: column}`: a rank for each item, 1 is best, equal ranks tie; an item without a rank is not compared.
    - `choices=[columns]`: first, second, ... choice among `values`; the items not chosen tie last.
    - `column=...`: one text such as "a>b=c", `separator` between places and "=" between items that tie; an item
      that is not named is not compared.

    `ties` is the model's weight of a tie: a positive number, "learn", or None (as the model's recipe has it).

    >>> Ranking("aims", column="aims", values=["peace", "growth", "order"])
    Ranking('aims', column='aims', values=['peace', 'growth', 'order'])
    """

    kind = "ranking"
    spoken = "rankings"
    measure = "ordinal"
    loss = "absolute"
    error_means = "of the pairs are the wrong way round"
    least = 2

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return RankingBlock

    def __init__(
        self,
        name: str,
        *,
        ranks: Mapping[Any, str] | Iterable[str] | None = None,
        choices: Iterable[str] | None = None,
        column: str | None = None,
        separator: str = ">",
        values: Iterable[Value] | None = None,
        ties: float | str | None = None,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
        label: str = "",
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__(name, missing=missing, asked_if=asked_if, label=label, labels=labels)
        if sum(form is not None for form in (ranks, choices, column)) != 1:
            raise self._error("give one of ranks={item: column}, choices=[columns] and column=... (one text column)")
        if ranks is not None and values is not None:
            raise self._error("the items of ranks={item: column} are its values; leave values=[...] out")
        if not isinstance(separator, str) or not separator or TIE in separator:
            raise self._error(f"separator must be a text without {TIE!r}, not {separator!r}")
        self.ranks = self._columns("ranks", ranks)
        self.choices = None if choices is None else [self._column("choices", c) for c in self._list("choices", choices)]
        self.column = None if column is None else self._column("column", column)
        self.separator = separator
        items = values if self.ranks is None else list(self.ranks)
        self.values = None if items is None else self._checked(items)
        self.ties = self._positive_or_learn("ties", ties)
        if column is not None:
            self._check_texts(self.values or (), separator, TIE)
        if self.choices is not None and not 0 < len(self.choices) <= len(self.values or self.choices):
            raise self._error(
                f"choices={self.choices!r} must name 1 to {len(self.values or ())} columns, one for each choice"
            )

    @property
    def columns(self) -> list[str]:
        """The table's columns that the question reads."""
        return list(self.ranks.values()) if self.ranks is not None else self.choices or [str(self.column)]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of items, by their numbers, in the order of the codes."""
        return pairs_of(self.n_values)

    @property
    def n_codes(self) -> int:
        """One code for each pair of items."""
        return self.n_values * (self.n_values - 1) // 2

    def feature_names(self, n: int) -> list[Any]:
        """Name the items and, if the model has them apart, the pairs."""
        items = self.known_values
        return [*items, *(f"{items[left]} > {items[right]}" for left, right in self.pairs)][:n]

    def settings(self) -> dict[str, Any]:
        """List every setting by the name under which the constructor takes it."""
        return super().settings() | ({} if self.ranks is None else {"values": None})

    def _telling(self, columns: Columns) -> NDArray[np.intp]:
        return super()._telling(columns) if self.values is None else np.zeros(0, np.intp)

    def _learn(self, columns: Columns) -> Self:
        if self.values is not None:
            return self._copy()
        found = {value for column in self.columns for value in distinct(columns[column], self.missing)}
        if self.column is not None:
            places = [place for cell in found for place in split(cell, self.separator)]
            found = {item for place in places for item in split(place, TIE) if item not in map(str, self.missing)}
        return self._copy(values=self._learnt(found, columns))

    def _encode(self, columns: Columns, unseen: str) -> Cells:
        chosen = self._places_of_choices if self.choices else self._places_of_texts
        place = (self._places_of_ranks if self.ranks else chosen)(columns, unseen)
        return pair_codes(place)

    def _places_of_ranks(self, columns: Columns, unseen: str) -> Cells:
        place = np.empty((len(columns[self.columns[0]]), self.n_values), dtype=np.float32)
        way_out = f'is no rank from 1 to {self.n_values}; correct it, list it in missing=[...] or set unseen="missing"'
        for item, column in enumerate(self.columns):
            numbers, bad = to_numbers(columns[column], self.missing)
            bad |= (numbers < 1) | (numbers > self.n_values)
            self._settle(bad, columns[column], column, unseen, way_out)
            place[:, item] = np.where(bad, np.nan, numbers)
        return place

    def _places_of_choices(self, columns: Columns, unseen: str) -> Cells:
        last = len(self.columns) + 1
        place = np.full((len(columns[self.columns[0]]), self.n_values), last, dtype=np.float32)
        for number, column in enumerate(self.columns, start=1):
            cells = columns[column]
            item = match(cells, self._book)
            wrong = item == UNSEEN
            self._settle(wrong, cells, column, unseen, self._not_among(cells[wrong.argmax()]) if wrong.any() else "")
            rows = np.flatnonzero(item >= 0)
            again = place[rows, item[rows]] < last
            if again.any():
                row = int(rows[again.argmax()])
                raise self._cell_error(cells[row], row, column, "is chosen twice; blank one of the two")
            place[rows, item[rows]] = number
        place[(place == last).all(axis=1)] = np.nan
        return place

    def _places_of_texts(self, columns: Columns, unseen: str) -> Cells:
        book = self._book
        unnamed = np.full(self.n_values, np.nan, dtype=np.float32)

        def read_text(cell: Any) -> tuple[Cells, str | None]:
            place, unknown = unnamed.copy(), None
            groups = [] if read(cell, book) == BLANK else split(cell, self.separator)
            for number, group in enumerate(groups):
                for part in split(group, TIE):
                    item = read(part, book)
                    unknown = part if item == UNSEEN and unknown is None else unknown
                    if item >= 0 and not np.isnan(place[item]):
                        raise WrongPartError(self.known_values[item], "is named twice; name it once")
                    if item >= 0:
                        place[item] = number
            return place, unknown

        return self._read_texts(columns[self.columns[0]], unnamed, unseen, read_text)

    def decode(self, block: Cells, like: Columns | None = None) -> dict[str, Cells]:
        """Write the columns of ranks or choices, or the one of texts; a blank is NaN or None."""
        place = self._places(block)
        if self.ranks:
            place = self._beside_given(place, like) if like else place
            place = place if np.isnan(place).any() else place.astype(np.int64)  # a rank is no 1.0 where all have one
            return {column: place[:, item] for item, column in enumerate(self.columns)}
        if self.choices:
            written = {}
            for number, column in enumerate(self.columns, start=1):
                values = spelling(like[column], self._book, self.known_values) if like else self.known_values
                written[column] = self._choice(place == number, values)
            return self._keep_gaps(written, like) if like else written
        rows, where = distinct_rows(np.nan_to_num(place).astype(np.int64))
        return {self.columns[0]: lookup(where, [self._text(row) for row in rows])}

    def _places(self, block: Cells) -> Cells:
        """The place of each item, 1 for the first, by the pairs; NaN for one that was compared with none."""
        place = np.ones((len(block), self.n_values))
        compared = np.zeros(place.shape, dtype=bool)
        for number, (first, second) in enumerate(self.pairs):
            place[:, first] += block[:, number] == 2
            place[:, second] += block[:, number] == 0
            compared[:, [first, second]] |= (block[:, number] >= 0)[:, None]
        place[~compared] = np.nan
        return place

    def tell(self, block: Cells) -> list[str]:
        """Say the order, with " = " between items that tie."""
        names = np.array(self.value_names, dtype=object)
        told = []
        for row in self._places(block):
            groups = (names[row == place] for place in np.unique(row[~np.isnan(row)]))
            told.append(" > ".join(" = ".join(group) for group in groups))
        return told

    def views(self, block: Cells) -> list[View]:
        """Which item comes first, then the place of each."""
        place = self._places(block)
        first = place == 1
        alone = np.where(first.any(axis=1), np.where(first.sum(axis=1) == 1, first.argmax(axis=1), self.n_values), -1)
        places = [str(n) for n in range(1, self.n_values + 1)]
        codes = np.nan_to_num(place, nan=0.0).astype(np.int64) - 1
        own = [View(f"place of {name}", codes[:, n], places, True) for n, name in enumerate(self.value_names)]
        return [View("first choice", alone, [*self.value_names, "several share the first place"]), *own]

    def events(self, block: Cells, chances: Cells) -> tuple[Cells, Cells]:
        """Whether the first of each two items was put before the second, and the second before the first."""
        both = np.repeat(block, 2, axis=1)
        return chances, answered_or_nan(both, both == np.tile([0, 2], block.shape[1]))

    def _beside_given(self, place: Cells, like: Columns) -> Cells:
        """Give items without a rank, where others have one, the ranks that are left, in their order."""
        given = np.stack([to_numbers(like[column], self.missing)[0] for column in self.columns], axis=1)
        some_given = ~np.isnan(given).all(axis=1) & np.isnan(given).any(axis=1) & ~np.isnan(place).any(axis=1)
        for row in np.flatnonzero(some_given):
            free = np.flatnonzero(np.isnan(given[row]))
            left = [rank for rank in range(1, self.n_values + 1) if rank not in given[row]]
            order = free[np.argsort(place[row, free], kind="stable")]
            place[row] = given[row]
            place[row, order] = left[: len(order)]
        return place

    def _keep_gaps(self, written: dict[str, Cells], like: Columns) -> dict[str, Cells]:
        """Leave choices alone where someone named a second one and no first: to move it up would name it twice."""
        given = np.stack([match(like[column], self._book) >= 0 for column in written], axis=1)
        gaps = (np.diff(given.astype(np.int8), axis=1) > 0).any(axis=1)
        for place, column in enumerate(written):
            own = np.array(like[column], dtype=object)
            written[column][gaps] = np.where(given[gaps, place], own[gaps], np.array(None))
        return written

    def _choice(self, here: Cells, values: Sequence[Value]) -> Cells:
        """Find the item that stands alone at a place; items that tie were not chosen."""
        return lookup(np.where(here.sum(axis=1) == 1, here.argmax(axis=1), -1), values)

    def to_numbers(self, block: Cells) -> NDArray[np.float64]:
        """Say how many items each beats less how many beat it, but for the last item, which the others tell."""
        score = np.zeros((len(block), self.n_values))
        compared = np.zeros(score.shape, dtype=bool)
        for code, (first, second) in zip(block.T, self.pairs, strict=True):
            won = np.where(code < 0, 0, 1 - code)
            score[:, first] += won
            score[:, second] -= won
            compared[:, [first, second]] |= (code >= 0)[:, None]
        return np.where(compared, score, np.nan)[:, :-1]

    def from_numbers(self, columns: NDArray[np.float64]) -> Cells:
        """Put the items in the order of their numbers."""
        return pair_codes(-np.hstack([columns, -columns.sum(axis=1, keepdims=True)]))

    def _text(self, row: Cells) -> str | None:
        places = [place for place in np.unique(row) if place > 0]
        groups = (TIE.join(str(self.known_values[item]) for item in np.flatnonzero(row == place)) for place in places)
        return self.separator.join(groups) or None


def pairs_of(n_items: int) -> list[tuple[int, int]]:
    """The pairs of items, by their numbers, in the order of the codes."""
    return list(combinations(range(n_items), 2))


def pair_codes(place: NDArray[np.floating]) -> NDArray[np.int32]:
    """The codes of all pairs, (rows, pairs), from the place of each item: 0, 1 or 2, -1 where one has none (NaN)."""
    pairs = pairs_of(place.shape[1])
    block = np.empty((len(place), len(pairs)), dtype=np.int32)
    for number, (first, second) in enumerate(pairs):
        difference = place[:, second] - place[:, first]
        block[:, number] = np.where(np.isnan(difference), -1, 1 - np.sign(np.nan_to_num(difference)))
    return block


@cache
def top_orders(n_items: int, n_top: int) -> NDArray[np.int16]:
    """The pair codes of every choice of a first, a second, ... of some items, the rest tied last; (orders, pairs)."""
    place = np.full((math.perm(n_items, n_top), n_items), n_top)
    for number, chosen in enumerate(permutations(range(n_items), n_top)):
        place[number, list(chosen)] = range(n_top)
    left, right = np.array(list(combinations(range(n_items), 2))).T
    codes: NDArray[np.int16] = (1 + np.sign(place[:, left] - place[:, right])).astype(np.int16)
    return codes


def draw_top(logits: Array, codes: Codes, u: Array, n_items: int, n_top: int) -> None:
    """Write, in place, first, second, ... choices drawn whole: a person names no two items for one place.

    Each is as probable, among all that agree with the pairs known, as its pairs say.
    """
    orders = top_orders(n_items, min(n_top, n_items - 1))
    rows = 3 * np.arange(orders.shape[1]) + orders
    for b in range(codes.shape[1]):
        agrees = ((codes[:, b] < 0) | (orders == codes[:, b])).all(axis=1)
        agrees = agrees if agrees.any() else np.ones(len(orders), dtype=bool)
        weight = logits[rows[agrees], b].sum(axis=1, dtype=np.float64)
        below = np.cumsum(np.exp(weight - weight.max()))
        codes[:, b] = orders[agrees][min(np.searchsorted(below, u[b] * below[-1]), agrees.sum() - 1)]


_HALVINGS = 10


class RankingBlock(LevelBlock):
    """Rankings as pairwise comparisons: each pair of items is won, tied or lost (Davidson's model, paper Eq. 9).

    A pair (l, m) has the logits z_l + z_lm/4, log gamma + (z_l + z_m)/2, z_m - z_lm/4: what the items are worth, and
    what sets these two apart. The paper has no z_lm, and its z is over M. Pairs nobody compared are blank.
    """

    later = ("temper", "heat")

    def __init__(self, questions: Sequence[Ranking], summary: Summary, paper: bool) -> None:
        self._own, self._paper = questions, paper
        items = np.array([q.n_values for q in questions])
        self.pairs = [np.array(q.pairs) for q in questions]
        n_pairs = np.array([len(p) for p in self.pairs])
        self.pair_start = np.cumsum(n_pairs) - n_pairs
        dimensions = items if paper else items + n_pairs
        self.feature_start = np.cumsum(dimensions) - dimensions
        owner = np.repeat(np.arange(len(items)), n_pairs)
        self._gamma = [q.ties or (1.0 if paper else "learn") for q in questions]
        half = np.concatenate([(p + s) for p, s in zip(self.pairs, self.feature_start, strict=True)])
        level = 3 * np.arange(len(half))
        one = (1.0 / items if paper else np.ones(len(items)))[owner]
        rows, columns = [level, level + 1, level + 1, level + 2], [half[:, 0], half[:, 0], half[:, 1], half[:, 1]]
        values = [one, one / 2, one / 2, one]
        if not paper:
            own = (self.feature_start + items - self.pair_start)[owner] + np.arange(len(half))
            rows, columns, values = [*rows, level, level + 2], [*columns, own, own], [*values, one / 4, -one / 4]
        A = sparse.csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))))
        C = sparse.csr_array((np.ones(len(half)), (level + 1, owner)), shape=(3 * len(half), len(items)))
        super().__init__(questions, [3] * len(half), owner, A, C)
        self.base_question = np.arange(len(items))
        self.heat: Array = np.ones(len(items))
        """What the logits of each question's pairs are multiplied by where whole orders are drawn by `sample_alone`."""

    @property
    def for_hidden_units(self) -> NDArray[np.bool_]:
        """The pairs: they follow from the items, which links join."""
        of_pairs = np.ones(self.n_features, bool)
        for question, start in zip(self.questions, self.feature_start, strict=True):
            of_pairs[start : start + question.n_values] = False
        return of_pairs

    def features_of(self, version: int) -> Index:
        """In format 1 rankings have a feature for each item and none for each pair."""
        return np.flatnonzero(~self.for_hidden_units) if version == 1 else super().features_of(version)

    def start_base(self) -> Array:
        return np.array([0.0 if g == "learn" else np.log(g) for g in self._gamma])

    def natural_slope(self, base: Array) -> Array:
        return np.array([float(g == "learn") for g in self._gamma], base.dtype)

    def sample_legal(self, z: Array, theta: Array, stream: Stream, codes: Codes, numbers: Array) -> None:
        """Draw whole orders, each with the probability that the pairs give it among all that the form can say."""
        self._draw(self._logits(z, theta), stream, codes)

    def sample_alone(self, z: Array, theta: Array, stream: Stream, codes: Codes, numbers: Array) -> None:
        """Draw whole orders so that pairs come as often as they say: an order is surer of a pair than the pair is."""
        self._draw(self._heated(self._logits(z, theta)), stream, codes)

    def as_in(self, block: Block, q: int) -> None:
        super().as_in(block, q)
        assert isinstance(block, RankingBlock)
        self.heat = block.heat[q : q + 1]

    def _heated(self, logits: Array) -> Array:
        return logits * self.heat.astype(logits.dtype)[np.repeat(self.owner, self.size), None]

    def cool(self, outlook: Array, codes: Codes, weights: Array) -> None:
        """Learn the heat too: that at which the pairs of drawn orders agree with their logits as much as expected."""
        super().cool(outlook, codes, weights)
        logits = np.ascontiguousarray(outlook * self.temper.astype(outlook.dtype))
        expected = self._agreement(logits, self.softmax(logits))
        low, high = np.full(self.n_questions, 0.02), np.full(self.n_questions, 2.0)
        for _ in range(_HALVINGS):
            self.heat = (low + high) / 2
            drawn = np.full(codes.shape, -1, np.int16)
            self._draw(self._heated(logits), Stream(0, 0, np.arange(codes.shape[1])), drawn)
            sure = self._agreement(logits, self._one_hot(drawn, logits.dtype)) > expected
            low, high = np.where(sure, low, self.heat), np.where(sure, self.heat, high)

    def _agreement(self, logits: Array, p: Array) -> Array:
        """The mean logit of what pairs come to, by question."""
        of_each: Array = (logits * p).sum(axis=1, dtype=np.float64)
        question = np.repeat(self.owner, self.size)
        return np.array([of_each[question == q].sum() for q in range(self.n_questions)])

    def _draw(self, logits: Array, stream: Stream, codes: Codes) -> None:
        for question, first in zip(self._own, self.pair_start, strict=True):
            own = slice(first, first + question.n_codes)
            levels = logits[3 * own.start : 3 * own.stop]
            if question.choices:
                draw_top(levels, codes[own], stream.uniform(1)[0], question.n_values, len(question.choices))
            else:
                u = stream.uniform(n_draws(question.n_values))
                draw_orders(levels, codes[own], u, codes[own])

    def chances(self, q: int, outlook: Array) -> tuple[list[object], Array]:
        """The probability that one item is put before another, for each two; what they lack of 1 is a tie."""
        items, pairs = self.questions[q].known_values, self.pairs[q]
        p = self.softmax(outlook.astype(np.float64)).reshape(-1, 3, outlook.shape[1])
        p = p[self.pair_start[q] : self.pair_start[q] + len(pairs)]
        names: list[object] = []
        for left, right in pairs:
            names += [f"{items[left]} > {items[right]}", f"{items[right]} > {items[left]}"]
        return names, p[:, [0, 2]].reshape(-1, outlook.shape[1])

    def settle(self, outlook: Array, codes: Codes, numbers: Array) -> None:
        """The order of the sums of pairwise probabilities (paper section 3.2), mended where pairs go round in circles.

        It has no ties.
        """
        p = self.softmax(outlook)
        for pairs, first, question in zip(self.pairs, self.pair_start, self.questions, strict=True):
            own, levels = slice(first, first + len(pairs)), p[3 * first : 3 * (first + len(pairs))]
            given, score = codes[own].copy(), np.empty((question.n_values, outlook.shape[1]))
            by_scores(levels, pairs, score, codes[own])
            if not self._paper:
                mend(levels, given, score, codes[own])

    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """The share of pairs put in the opposite order; a tie is not opposed to anything."""
        each = opposed_and_compared(codes, true_codes, weights)
        n_pairs = np.array([len(p) for p in self.pairs])
        share: NDArray[np.float64] = np.add.reduceat(each, self.pair_start, axis=0) / n_pairs[:, None]
        return share


def opposed_and_compared(codes: Scored, true_codes: Scored, weights: Array) -> NDArray[np.float64]:
    """For each pair, the weight of the opposite orders and of all that were compared."""
    opposed = np.isin(true_codes, (0, 2)) & (codes != true_codes) & (codes != 1)
    return np.stack([opposed @ weights, (true_codes >= 0) @ weights], axis=1)
