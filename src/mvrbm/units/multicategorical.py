"""Multicategorical questions: choose any number of options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mvrbm.cells import (
    BLANK,
    EMPTY,
    LISTS,
    UNSEEN,
    Book,
    Cells,
    Value,
    are_lists,
    codebook,
    distinct,
    distinct_rows,
    first_rows,
    lookup,
    match,
    plain,
    read,
    spelling,
    split,
    unlist,
)
from mvrbm.summary import Summary
from mvrbm.units.block import Array, Block, Codes
from mvrbm.units.choices import best_cut, hits_and_answered, how_sure
from mvrbm.units.indicators import IndicatorBlock, smoothed
from mvrbm.units.question import Columns, Question
from mvrbm.units.view import View, answered_or_nan

NOT_CHOSEN_CHOSEN = ("not chosen", "chosen")
_ZERO_ONE = codebook([0, 1]) | codebook([False, True])


class Multicategorical(Question):
    """A question that lets people choose any number of options, each in a column of its own or all in one cell.

    The cells of `columns={option: column}` are 0/1 (or false/true), or hold a tick where the option is chosen and
    nothing where it is not (`ticked`: the tick, or {option: tick}; learnt if left out; the option's own name also
    ticks). An empty cell beside a tick is then an option not chosen; beside 0 and 1 it is a blank. Other codes for
    yes and no are told by `ticked=1, unticked=[2]`.

    A cell of `column=...` holds the options as a text with a `separator` between them, or, with `separator=None`, as
    a list or a set.

    What stands for "answered, but chose nothing" is never guessed: a row of 0s, the text "" and an empty list do, a row
    of empty cells and an empty cell mean unanswered. `empty="none"` takes all of these as nothing chosen,
    `empty="blank"` takes all of them as unanswered. `allow_empty=False` rules the empty choice out: it is an error.

    An option is predicted if its probability reaches `threshold`; left out, it is 1/2 in the paper's recipe, and
    otherwise what makes the F1 of all such questions together largest, by what hidden answers tell of probabilities.

    >>> Multicategorical("problems", columns={"Work": "q5_1", "Crime": "q5_2"}).columns
    ['q5_1', 'q5_2']
    >>> Multicategorical("hobbies", column="hobbies", values=["chess", "judo"]).columns
    ['hobbies']
    """

    kind = "multicategorical"
    error_means = "is what the F1 score lacks of 100"
    spoken = "questions with any number of answers"

    @property
    def block(self) -> type[Block]:
        """The model's side of the type."""
        return MulticategoricalBlock if self.allow_empty else NonEmptyBlock

    def __init__(
        self,
        name: str,
        columns: Mapping[Any, str] | Iterable[str] | None = None,
        *,
        column: str | None = None,
        separator: str | None = ";",
        values: Iterable[Value] | None = None,
        ticked: Mapping[Any, Value] | Value | None = None,
        unticked: Iterable[Value] = (),
        empty: str | None = None,
        allow_empty: bool = True,
        threshold: float | None = None,
        missing: Iterable[Value] = (),
        asked_if: Mapping[str, Any] | None = None,
        label: str = "",
        labels: Mapping[Any, str] | None = None,
    ) -> None:
        super().__init__(name, missing=missing, asked_if=asked_if, label=label, labels=labels)
        if (columns is None) == (column is None):
            raise self._error("give either columns={option: column} or column=... (one text column)")
        if columns is not None and values is not None:
            raise self._error("the options of columns={option: column} are its values; leave values=[...] out")
        self.allow_empty = self._flag("allow_empty", allow_empty)
        if empty not in (None, "none", "blank") or (empty == "none" and not self.allow_empty):
            told = f"empty={empty!r}, allow_empty={allow_empty!r}"
            raise self._error(f'empty must be None, "blank" or (with allow_empty=True) "none"; not {told}')
        if separator is not None and (not isinstance(separator, str) or not separator):
            raise self._error(f"separator must be a text, or None for lists, not {separator!r}")
        self.by_option = self._columns("columns", columns)
        self.column = None if column is None else self._column("column", column)
        self.separator = separator
        options = values if self.by_option is None else self.by_option
        self.values = (
            None if options is None else self._checked(options if self.by_option is None else list(self.by_option))
        )
        if column is not None and separator is not None:
            self._check_texts(self.values or (), separator)
        self.ticked = self._ticks_given(ticked)
        self.unticked = [plain(code) for code in self._list("unticked", unticked)]
        if self.by_option is None and (ticked is not None or self.unticked):
            raise self._error("ticked and unticked go with columns={option: column}")
        self.empty = empty
        if threshold is not None and (isinstance(threshold, bool) or not 0 < threshold < 1):
            raise self._error(f"threshold must lie between 0 and 1, not {threshold!r}")
        self.threshold = None if threshold is None else float(threshold)
        for code in [*self.unticked, *(self.ticked or {}).values()]:
            if code in self.missing or (code in self.unticked and code in (self.ticked or {}).values()):
                raise self._error(f"{code!r} is told to be two of ticked, unticked and missing; keep one")

    def _ticks_given(self, ticked: Mapping[Any, Value] | Value | None) -> dict[Value, Value] | None:
        if ticked is None:
            return None
        ticks = plain(ticked) if isinstance(ticked, Mapping) else dict.fromkeys(self.values or (), plain(ticked))
        if set(ticks) != set(self.by_option or ()) or not all(isinstance(tick, Value) for tick in ticks.values()):
            raise self._error(f"ticked={{option: tick}} must name a tick for each option of columns=, not {ticked!r}")
        return dict(ticks)

    @property
    def columns(self) -> list[str]:
        """The table's columns that the question reads: one for each option, or the one with all of them."""
        return [str(self.column)] if self.by_option is None else list(self.by_option.values())

    @property
    def n_codes(self) -> int:
        """One 0/1 code for each option."""
        return self.n_values

    def settings(self) -> dict[str, Any]:
        """List every setting by the name under which the constructor takes it."""
        one = self.by_option is None
        return {**super().settings(), "columns": self.by_option, "values": self.values if one else None}

    def _telling(self, columns: Columns) -> NDArray[np.intp]:
        cells = columns[self.columns[0]]
        if self.by_option is not None or not are_lists(cells):
            return super()._telling(columns)
        there, rows, elements = unlist(cells)
        return np.concatenate([np.flatnonzero(there)[:1], rows[first_rows(elements)]])

    def _learn(self, columns: Columns) -> Self:
        """Take the options of the one column, sorted, or the cells that tick, where they were left out."""
        if self.by_option is not None:
            return self._copy(ticked=self._ticks(columns) or self._only_ones(columns))
        cells = columns[self.columns[0]]
        separator = None if are_lists(cells) else self.separator
        if self.values is not None:
            return self._copy(separator=separator)
        if separator is None:
            found = set(distinct(unlist(cells)[2], self.missing))
        else:
            found = {part for cell in distinct(cells, self.missing) for part in split(cell, separator)}
        return self._copy(values=self._learnt(found - set(map(str, self.missing)), columns), separator=separator)

    def _encode(self, columns: Columns, unseen: str) -> Cells:
        if self.by_option is not None:
            block = self._encode_options(columns, unseen)
        else:
            cells = columns[self.columns[0]]
            block = (self._encode_lists if are_lists(cells) else self._encode_texts)(cells, unseen)
        if not self.allow_empty:  # the rule is about the whole answer, so one that is known in part is no answer
            block[(block == BLANK).any(axis=1)] = BLANK
        nothing = (block == 0).all(axis=1)
        if not self.allow_empty and self.empty != "blank" and nothing.any():
            if unseen == "error":
                way_out = 'set allow_empty=True, or empty="blank" if it means unanswered'
                raise self._error(f"nothing is chosen (row {nothing.argmax()}), but allow_empty=False; {way_out}")
            self._warn_unseen(int(nothing.sum()), "", int(nothing.argmax()), self.name)
        if not self.allow_empty or self.empty == "blank":
            block[nothing] = BLANK
        return block

    def _ticks(self, columns: Columns) -> dict[Value, Value] | None:
        """Find the text that ticks each option, if none was given; None if the columns are 0/1."""
        if self.ticked or self.unticked:
            return self.ticked
        found = {option: distinct(columns[column], self.missing) for option, column in self._options}
        texts = {o: [c for c in cells if isinstance(c, str) and c not in _ZERO_ONE] for o, cells in found.items()}
        for first in texts.values():
            for second in first[1:2]:
                both = f"is a text beside {first[0]!r}, and which of them ticks is not known"
                way_out = "say ticked='...', unticked=['...']"
                raise self._cell_error(second, *self._find(second, columns), f"{both}; {way_out}")
        return {o: next(iter(cells), o) for o, cells in texts.items()} if any(texts.values()) else None

    def _only_ones(self, columns: Columns) -> dict[Value, Value] | None:
        """Find whether the columns hold a 1 or nothing, and never a 0: then a 1 is a tick, as a text would be."""
        if self.unticked:
            return None
        codes = np.stack([match(columns[column], self._option_book(None, None)) for column in self.columns])
        ones = (codes == 1).any() and (codes == EMPTY).any() and not (codes == 0).any()
        first = [distinct(columns[column], self.missing) for column in self.columns]
        return {o: next(iter(cells), 1) for o, cells in zip(self.known_values, first, strict=True)} if ones else None

    @property
    def _options(self) -> Iterable[tuple[Value, str]]:
        return (self.by_option or {}).items()

    def _option_book(self, option: Value | None, ticks: Mapping[Value, Value] | None) -> Book:
        """Say which cells of an option's column mean chosen and which not chosen."""
        if not ticks and not self.unticked:
            return _ZERO_ONE | codebook((), self.missing)
        book: Book = dict.fromkeys([option, *codebook([ticks[option] if ticks and option is not None else 1])], 1)
        return book | dict.fromkeys(codebook(self.unticked), 0) | codebook((), self.missing)

    def _encode_options(self, columns: Columns, unseen: str) -> Cells:
        ticks = self.ticked
        block = np.empty((len(columns[self.columns[0]]), self.n_codes), dtype=np.int32)
        for place, (option, column) in enumerate(self._options):
            codes = match(columns[column], self._option_book(option, ticks))
            tick = f"is not its tick {ticks[option]!r}" if ticks else "is neither 0 nor 1, nor told by ticked=..."
            way_out = f'{tick}; recode it, list it in unticked=[...] or missing=[...] or set unseen="missing"'
            self._settle(codes == UNSEEN, columns[column], column, unseen, way_out)
            block[:, place] = np.where(codes == UNSEEN, BLANK, codes)
        empty = block == EMPTY
        if self.empty == "none":
            block[empty.all(axis=1)] = 0
        if ticks and not self.unticked:  # here an empty cell means "not ticked", as soon as the person ticked anything
            block[empty & (block == 1).any(axis=1)[:, None]] = 0
        return np.maximum(block, BLANK)

    def _encode_texts(self, cells: Cells, unseen: str) -> Cells:
        if self.separator is None:
            self._refuse(
                match(cells, {}) == UNSEEN, cells, self.columns[0], "is no list; give the separator of its texts"
            )
        book, separator = self._book, str(self.separator)
        blank = np.full(self.n_codes, BLANK, dtype=np.int32)

        def read_text(cell: Any) -> tuple[Cells, str | None]:
            parts = split(cell, separator)
            codes = [BLANK] if read(cell, book) == BLANK else [read(part, book) for part in parts]
            wrong = parts[codes.index(UNSEEN)] if UNSEEN in codes else None
            known = np.isin(np.arange(self.n_codes), codes).astype(np.int32)
            return (blank if codes and not known.any() else known), wrong

        return self._read_texts(cells, blank * 0 if self.empty == "none" else blank, unseen, read_text)

    def _encode_lists(self, cells: Cells, unseen: str) -> Cells:
        there, rows, elements = unlist(cells)
        codes = match(elements, self._book)
        wrong = np.flatnonzero(codes == UNSEEN)
        if len(wrong):
            n = len(np.unique(rows[wrong]))
            self._settle_part(n, elements[wrong[0]], int(rows[wrong[0]]), unseen)
        block = np.zeros((len(there), self.n_codes), dtype=np.int32)
        block[rows[codes >= 0], codes[codes >= 0]] = 1
        unread = np.bincount(rows, codes < 0, len(there)) > 0  # whose every choice means blank or is not known
        block[unread & ~block.any(axis=1)] = BLANK
        if self.empty != "none":
            block[~there] = BLANK
        return block

    def decode(self, block: Cells, like: Columns | None = None) -> dict[str, Cells]:
        """Write the columns of 0/1, of ticks, or the one of texts or lists; a blank is NaN, None or a missing code."""
        # Where an empty cell is an answer, only a missing code can say that there was none.
        code = self.missing[0] if self.empty == "none" and self.missing else None
        if self.by_option is None:
            rows, places = distinct_rows(block)
            if self.separator is None or (like and are_lists(like[self.columns[0]])):
                return {self.columns[0]: lookup(places, [self._list_cell(row, code, like) for row in rows])}
            return {self.columns[0]: lookup(places, [self._text(row, code) for row in rows])}
        written = {}
        for place, (option, column) in enumerate(self._options):
            off = self.unticked[0] if self.unticked else None if self.ticked else 0
            values = [off, self.ticked[option] if self.ticked else 1]
            if like:
                values = spelling(like[column], self._option_book(option, self.ticked), values)
            written[column] = lookup(block[:, place], values, code)
            if not like and not self.ticked and not self.unticked and not isinstance(code, str):
                written[column] = written[column].astype(float)
        return written

    def empty_cells(self, columns: Columns) -> dict[str, NDArray[np.bool_]]:
        """Find the cells that hold nothing, or a code that means blank; a list is something."""
        if self.by_option is None and are_lists(columns[self.columns[0]]):
            return {self.columns[0]: ~unlist(columns[self.columns[0]])[0]}
        return super().empty_cells(columns)

    def from_numbers(self, columns: NDArray[np.float64]) -> Cells:
        """Choose every option at 1/2 or more, and the nearest where nothing may not be chosen."""
        block = (columns >= 0.5).astype(np.int32)
        if not self.allow_empty:
            empty = np.flatnonzero(~block.any(axis=1))
            block[empty, columns[empty].argmax(axis=1)] = 1
        return block

    def tell(self, block: Cells) -> list[str]:
        """List the options that each row chose, and those that it leaves open."""
        names = np.array(self.value_names, dtype=object)
        told = [[*names[row == 1], *(f"{name} not known" for name in names[row < 0])] for row in block]
        blank = (block < 0).all(axis=1)
        return ["" if none else ", ".join(said) or "nothing chosen" for said, none in zip(told, blank, strict=True)]

    def views(self, block: Cells) -> list[View]:
        """How many options are chosen, then each option by itself."""
        number = np.where((block < 0).any(axis=1), -1, (block == 1).sum(axis=1))
        counts = [str(n) for n in range(self.n_values + 1)]
        options = [View(name, codes, NOT_CHOSEN_CHOSEN) for name, codes in zip(self.value_names, block.T, strict=True)]
        return [View("how many are chosen", number, counts, ordered=True), *options]

    def events(self, block: Cells, chances: Cells) -> tuple[Cells, Cells]:
        """Whether each option was chosen."""
        return chances, answered_or_nan(block, block == 1)

    def says(self, block: Cells, value: Value) -> NDArray[np.bool_]:
        """Find the rows in which this option is chosen."""
        return np.asarray(block[:, self._code_asked_for(value)] == 1)

    def _chosen(self, row: Cells) -> list[Value]:
        return [value for value, code in zip(self.known_values, row, strict=True) if code == 1]

    def _text(self, row: Cells, blank: Value | None) -> Value | None:
        return blank if (row < 0).all() else str(self.separator).join(map(str, self._chosen(row)))

    def _list_cell(self, row: Cells, blank: Value | None, like: Columns | None) -> Any:
        """Write a list, or whatever holds the choices in the column that is written to."""
        if (row < 0).all():
            return None if blank is None else [blank]
        kind: Any = (
            next((type(cell) for cell in like[self.columns[0]] if isinstance(cell, LISTS)), list) if like else list
        )
        return self._chosen(row) if kind is np.ndarray else kind(self._chosen(row))


class MulticategoricalBlock(IndicatorBlock):
    """Choose-any questions: an independent sigmoid for each option given the hidden units (paper Eq. 6-7)."""

    learnt = ("threshold",)

    def __init__(self, questions: Sequence[Multicategorical], summary: Summary, paper: bool) -> None:
        super().__init__(questions, summary, paper)
        self._given = [0.5 if q.threshold is None and paper else q.threshold for q in questions]
        """The threshold of each question; None is to be learnt."""
        told = np.array([0.5 if given is None else given for given in self._given])
        self.threshold[:] = special.logit(told)[self.owner, None]

    def tune(self, outlook: Array, codes: Codes, weights: Array) -> None:
        """Find the log-odds from which choosing an option makes the F1 of all the block's questions together largest.

        That is what is scored (`errors`), and it is largest at the same odds for all: one for each question would
        choose more where it hits less. The paper's threshold is 1/2, which chooses too few of the rarer options. With
        fewer than 20 choices to learn from, it stays. Hidden answers say how probable options are (`how_sure`), and
        that says which to choose: the best choice for these answers themselves would follow their chance hits.
        """
        free = np.array([given is None for given in self._given])[self.owner]
        there = (codes >= 0) & free[:, None]
        chosen, z = (codes == 1)[there], outlook[there].astype(np.float64)
        if chosen.sum() < 20:
            return
        weight = np.multiply.outer(1 / np.bincount(self.owner)[self.owner], weights)[there]
        slope, more = how_sure(z, chosen, weight)
        self.threshold[free] = (special.logit(best_cut(special.expit(slope * z + more), weight)) - more) / slope

    def errors(
        self, codes: Codes, numbers: Array, true_codes: Codes, true_numbers: Array, weights: Array
    ) -> NDArray[np.float64]:
        """True positives, false positives and false negatives, each question's weighted by 1/M.

        The paper's recall and precision count agreeing zeros too and can exceed 1; these do not.
        """
        each = hits_and_answered(codes, true_codes, weights)
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

    def outlook(
        self, P: Array, U: Array, W: Array, theta: Array, wanted: NDArray[np.bool_], share: float = 1.0
    ) -> Array:
        """Given the hidden units, the rule makes each option more probable."""
        z = super().outlook(P, U, W, theta, wanted, share)
        if len(P):
            return z
        p = np.empty(z.shape)
        self.mean(z, theta, np.zeros(z.shape, np.int16), z, p, z)
        result: Array = special.logit(np.minimum(p, 1 - 1e-12))
        return result

    def log_partition(self, z: Array, theta: Array, codes: Codes, numbers: Array, out: Array) -> None:
        super().log_partition(z, theta, codes, numbers, out)
        out += np.where(self._whole(codes), self._log_some(z), 0.0)

    def decide(self, z: Array, theta: Array, codes: Codes, numbers: Array) -> None:
        """Every option at its threshold or more, and the most probable one where there is none."""
        super().decide(z, theta, codes, numbers)
        for start, stop in zip(self.feature_start, [*self.feature_start[1:], len(z)], strict=True):
            empty = np.flatnonzero(~codes[start:stop].any(axis=0))
            codes[start + z[start:stop, empty].argmax(axis=0), empty] = 1


def _log_one_minus(log_none: Array, log_odds: Array) -> Array:
    """log(1 - P(none)); where every option is unlikely, it is the sum of their odds and not a rounding error."""
    certain = np.minimum(log_none, -1e-9)
    result: Array = np.where(log_none > -1e-9, log_odds, np.log(-np.expm1(certain)))
    return result
