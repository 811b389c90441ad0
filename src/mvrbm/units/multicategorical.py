"""Multicategorical questions: choose any number of options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes
from mvrbm.units.indicators import IndicatorBlock, smoothed
from mvrbm.units.question import (
    BLANK,
    EMPTY,
    Cells,
    Columns,
    Question,
    Value,
    distinct,
    distinct_rows,
    factorize,
    lookup,
    match,
    plain,
    split,
)

_NOUGHTS_AND_ONES = {"0": 0, "1": 1, "false": 0, "true": 1}  # as texts, of any case
_AS_CODES: dict[Any, int] = {0: 0, 1: 1}
for _text, _code in _NOUGHTS_AND_ONES.items():
    _AS_CODES |= {_text: _code, _text.capitalize(): _code, _text.upper(): _code}


class Multicategorical(Question):
    """A question that lets people choose any number of options, each in a column of its own or all in one text.

    The cells of `columns={option: column}` are 0/1 (or false/true), or hold one text (or 1, and no column a 0) where
    the option is ticked and nothing where it is not (`ticked={option: text}`, learnt if left out; the option's own name
    also ticks). An empty cell beside a tick is then an option not chosen; beside 0 and 1 it is a blank.

    What stands for "answered, but chose nothing" is never guessed: a row of 0s and the text "" do, a row of
    empty cells and an empty text cell mean unanswered. `empty="none"` takes all of these as nothing chosen,
    `empty="blank"` takes all of them as unanswered. `allow_empty=False` rules the empty choice out: it is an error.

    >>> Multicategorical("problems", columns={"Work": "q5_1", "Crime": "q5_2"}).columns
    ['q5_1', 'q5_2']
    >>> Multicategorical("hobbies", column="hobbies", values=["chess", "judo"]).columns
    ['hobbies']
    """

    kind = "multicategorical"

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return MulticategoricalBlock if self.allow_empty else NonEmptyBlock

    def __init__(
        self,
        name: str,
        columns: Mapping[Any, str] | None = None,
        *,
        column: str | None = None,
        separator: str = ";",
        values: Iterable[Value] | None = None,
        ticked: Mapping[Any, Value] | None = None,
        empty: str | None = None,
        allow_empty: bool = True,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, missing=missing, asked_if=asked_if)
        if (columns is None) == (column is None) or (columns is not None and not isinstance(columns, Mapping)):
            raise self._error("give either columns={option: column} or column=... (one text column)")
        if columns is not None and values is not None:
            raise self._error("the options of columns={option: column} are its values; leave values=[...] out")
        if empty not in (None, "none", "blank") or not separator or (empty == "none" and not allow_empty):
            raise self._error(
                f'empty must be None, "blank" or (with allow_empty=True) "none", and separator a text; '
                f"not empty={empty!r}, allow_empty={allow_empty!r}, separator={separator!r}"
            )
        self._by_option = None if columns is None else {plain(option): column for option, column in columns.items()}
        self.column = column
        self.separator = separator
        options = values if self._by_option is None else self._by_option
        self.values = None if options is None else self._checked(list(options))
        if column is not None:
            self._check_texts(self.values or (), separator)
        if ticked is not None and set(ticked) != set(self._by_option or ()):
            raise self._error(f"ticked={{option: text}} must name every option of columns=, not {list(ticked)}")
        self.ticked = plain(ticked)
        self.empty = empty
        self.allow_empty = bool(allow_empty)

    @property
    def columns(self) -> list[str]:
        """The table's columns that the question reads: one for each option, or the text column."""
        return [str(self.column)] if self._by_option is None else list(self._by_option.values())

    @property
    def n_codes(self) -> int:
        """One 0/1 code for each option."""
        return self.n_values

    def settings(self) -> dict[str, Any]:
        """List every setting by the name under which the constructor takes it."""
        text = self._by_option is None
        return {**super().settings(), "columns": self._by_option, "values": self.values if text else None}

    def learn(self, columns: Columns) -> Self:
        """Make a copy with the options of the text column, sorted, or the texts that tick, where they were left out."""
        if self._by_option is not None:
            return self._copy(ticked=self.ticked or self._ticks(columns) or self._only_ones(columns) or None)
        if self.values is not None:
            return self._copy()
        cells = distinct(columns[self.columns[0]], self.missing)
        found = {part for cell in cells for part in split(cell, self.separator)}
        return self._copy(values=self._learnt(found - set(map(str, self.missing))))

    def _encode(self, columns: Columns, unseen: str) -> Cells:
        block = self._encode_text(columns, unseen) if self._by_option is None else self._encode_ticks(columns, unseen)
        if not self.allow_empty:  # the rule is about the whole answer, so one that is known in part is no answer
            block[(block == BLANK).any(axis=1)] = BLANK
        nothing = (block == 0).all(axis=1)
        if self.empty == "blank" or (not self.allow_empty and unseen == "missing"):
            block[nothing] = BLANK
        elif not self.allow_empty and nothing.any():
            way_out = 'set allow_empty=True, or empty="blank" if it means unanswered'
            raise self._error(f"nothing is chosen (row {nothing.argmax()}), but allow_empty=False; {way_out}")
        return block

    def _ticks(self, columns: Columns) -> dict[Value, Value]:
        """Find the text that ticks each option; nothing if the columns are 0/1."""
        texts: dict[Value, Value] = {}
        for option, column in (self._by_option or {}).items():
            cells = [] if columns[column].dtype.kind in "biuf" else distinct(columns[column], self.missing)
            found = [cell for cell in cells if isinstance(cell, str) and cell.lower() not in _NOUGHTS_AND_ONES]
            if len(found) > 1:
                raise self._error(f"column {column!r} has more than one text ({found[:2]}); recode it to 0 and 1")
            if found:
                texts[option] = found[0]
        return {option: texts.get(option, option) for option in self.known_values} if texts else {}

    def _only_ones(self, columns: Columns) -> dict[Value, Value]:
        """Find whether the options hold 1 or nothing, and never a 0: then a 1 is a tick, as a text would be."""
        found = {cell for column in self.columns for cell in distinct(columns[column], self.missing)}
        return dict.fromkeys(self.known_values, 1) if found == {1} and self._has_empty(columns) else {}

    def _has_empty(self, columns: Columns) -> bool:
        return any((factorize(columns[column])[0] < 0).any() for column in self.columns)

    def _encode_ticks(self, columns: Columns, unseen: str) -> Cells:
        ticks = self.ticked or self._ticks(columns)
        block = np.empty((len(columns[self.columns[0]]), self.n_codes), dtype=np.int32)
        for place, (option, column) in enumerate((self._by_option or {}).items()):
            table: dict[Any, int] = {ticks[option]: 1, option: 1} if ticks else _AS_CODES
            wrong = f"is not its tick {ticks[option]!r}" if ticks else "is neither 0 nor 1"
            way_out = f'{wrong}; recode it, list it in missing=[...] or set unseen="missing"'
            codes = match(columns[column], table, self.missing)
            block[:, place] = self._settle(codes, columns[column], column, unseen, way_out)
        empty = block == EMPTY
        if self.empty == "none":
            block[empty.all(axis=1)] = 0
        if ticks:  # here an empty cell means "not ticked", as soon as the person ticked anything
            block[empty & (block == 1).any(axis=1)[:, None]] = 0
        return np.maximum(block, BLANK)

    def _encode_text(self, columns: Columns, unseen: str) -> Cells:
        table = {str(value): code for code, value in enumerate(self.known_values)}
        blank = np.full(len(table), BLANK, dtype=np.int32)

        def read(cell: Any) -> Cells:
            parts = split(cell, self.separator)
            known = [] if cell in self.missing else self._known_parts(parts, table, unseen)
            if cell in self.missing or (parts and not known):
                return blank
            return np.isin(np.arange(len(table)), known).astype(np.int32)

        return self._read_texts(columns, blank * 0 if self.empty == "none" else blank, read)

    def decode(self, block: Cells) -> dict[str, Cells]:
        """Write the columns of 0/1, of ticks, or the one of texts; a blank is NaN, None or a missing code."""
        # Where an empty cell is an answer, only a missing code can say that there was none.
        code = self.missing[0] if self.empty == "none" and self.missing else None
        if self._by_option is None:
            rows, places = distinct_rows(block)
            return {self.columns[0]: lookup(places, [self._text(row, code) for row in rows])}
        if self.ticked:
            pairs = [(None, self.ticked[option]) for option in self._by_option]
            return {column: lookup(block[:, i], pairs[i], code) for i, column in enumerate(self.columns)}
        numbers = [lookup(block[:, i], (0.0, 1.0), np.nan if code is None else code) for i in range(self.n_codes)]
        kind = object if isinstance(code, str) else float
        return {column: numbers[i].astype(kind) for i, column in enumerate(self.columns)}

    def _text(self, row: Cells, blank: Value | None) -> Value | None:
        if (row < 0).all():
            return blank
        return self.separator.join(str(value) for value, code in zip(self.known_values, row, strict=True) if code == 1)


class MulticategoricalBlock(IndicatorBlock):
    """Choose-any questions: an independent sigmoid for each option given the hidden units (paper Eq. 6-7)."""

    def errors(self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array) -> NDArray[np.float64]:
        """True positives, false positives and false negatives, each question's weighted by 1/M.

        The paper's recall and precision count agreeing zeros too and can exceed 1; these do not.
        """
        answered = true_codes >= 0
        truth, guess = true_codes == 1, (codes == 1) & answered
        each = (
            np.stack([truth & guess, ~truth & guess, truth & ~guess, answered], axis=2).sum(axis=1).astype(np.float64)
        )
        return np.add.reduceat(each, self.feature_start, axis=0) / np.bincount(self.owner)[:, None]

    @staticmethod
    def error(parts: NDArray[np.float64]) -> float:
        """1 - F1; 0 where nothing was to be found and nothing was."""
        hit, extra, missed, _ = parts
        return float((extra + missed) / (2 * hit + extra + missed)) if hit + extra + missed else 0.0


class NonEmptyBlock(MulticategoricalBlock):
    """Choose-any questions where choosing nothing is ruled out, as the paper defines the answer.

    The sum over answers loses the empty set: prod_m (1 + e^z_m) - 1. An answer is there in full or not at all.
    """

    def start(self, summary: Summary) -> tuple[Array, Array]:
        """Biases whose mean, given at least one choice, is the share of each option."""
        share = smoothed(summary.counts[:, :2])[:, 1]
        U = np.log(share / (1 - share))
        for _ in range(200):  # p = share * P(not empty): converges since more choices make the rule matter less
            p = np.clip(share * np.exp(self._log_some(U[:, None]))[self.owner, 0], 1e-9, 1 - 1e-9)
            U = np.log(p / (1 - p))
        return U, np.zeros(0)

    def _log_some(self, z: Array) -> Array:
        """log of the probability that independent options are not all left, for each question."""
        z = z.astype(np.float64)
        log_none = -np.add.reduceat(np.logaddexp(0, z), self.feature_start, axis=0)
        return _log_one_minus(log_none, np.logaddexp.reduceat(z, self.feature_start, axis=0))

    def _whole(self, codes: Codes) -> NDArray[np.bool_]:
        return np.minimum.reduceat(codes, self.feature_start, axis=0) >= 0

    def sample(self, z: Array, theta: Array, u: Array, codes: Codes, numbers: Array) -> None:
        """Option by option: while none is chosen yet, given that one of those left must be."""
        z = z.astype(np.float64)
        log_off, log_on = -np.logaddexp(0, z), -np.logaddexp(0, -z)
        for start, stop in zip(self.feature_start, [*self.feature_start[1:], len(z)], strict=True):
            log_rest_off = np.cumsum(log_off[start:stop][::-1], axis=0)[::-1]
            log_rest_odds = np.logaddexp.accumulate(z[start:stop][::-1], axis=0)[::-1]
            log_rest_on = _log_one_minus(log_rest_off, log_rest_odds)
            none = np.ones(z.shape[1], bool)
            for j in range(start, stop):
                must = np.exp(log_on[j] - log_rest_on[j - start])
                codes[j] = u[j] < np.where(none, must, np.exp(log_on[j]))
                none &= codes[j] == 0

    def mean(self, z: Array, theta: Array, codes: Codes, numbers: Array, x: Array, t: Array) -> None:
        log_on = -np.logaddexp(0, -z.astype(np.float64))
        x[:] = np.exp(log_on - self._log_some(z)[self.owner]) * (codes >= 0)

    def log_partition(self, z: Array, theta: Array, codes: Codes, numbers: Array, out: Array) -> None:
        super().log_partition(z, theta, codes, numbers, out)
        out += np.where(self._whole(codes), self._log_some(z), 0.0)

    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        """Every option at 1/2 or more, and the most probable one where there is none."""
        super().decide(z, theta, codes, numbers)
        for start, stop in zip(self.feature_start, [*self.feature_start[1:], len(z)], strict=True):
            empty = np.flatnonzero(~codes[start:stop].any(axis=0))
            codes[start + z[start:stop, empty].argmax(axis=0), empty] = 1


def _log_one_minus(log_none: Array, log_odds: Array) -> Array:
    """log(1 - P(none)); where every option is unlikely, it is the sum of their odds and not a rounding error."""
    certain = np.minimum(log_none, -1e-9)
    result: Array = np.where(log_none > -1e-9, log_odds, np.log(-np.expm1(certain)))
    return result
