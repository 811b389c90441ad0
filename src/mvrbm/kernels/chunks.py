"""From rows of compact answers to a chunk: people in columns, blanks marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mvrbm.kernels.compile import kernel


@kernel
def gather_codes(codes: Any, rows: Any, columns: Any, out: Any) -> None:
    """out[c, b] = the code in column c of row b, or -1 for a blank."""
    blank = codes.dtype.type(-1)  # the largest value of an unsigned type
    # unsigned, so that no index is looked at for being negative
    flat, first = codes.ravel(), (rows * codes.shape[1]).astype(np.uint64)
    for c in range(len(columns)):  # in this order writes are consecutive, and 64 columns share each line that is read
        line, column = out[c], np.uint64(columns[c])
        for b in range(len(first)):
            code = flat[first[b] + column]
            line[b] = np.int16(-1) if code == blank else np.int16(code)


@kernel
def scatter(chunk: Any, wanted: Any, rows: Any, columns: Any, out: Any) -> None:
    """Write the wanted cells of a chunk into column c of row b; a code of -1 becomes the largest value, the blank."""
    for c in range(len(columns)):
        column = np.uint64(columns[c])
        for b in range(len(rows)):
            if wanted[c, b]:
                out[np.uint64(rows[b]), column] = chunk[c, b]


@kernel
def keep_blanks(like: Any, codes: Any) -> None:
    """Blank every code that is blank in `like`."""
    for c in range(codes.shape[0]):
        for b in range(codes.shape[1]):
            codes[c, b] = codes[c, b] if like[c, b] >= 0 else np.int16(-1)


@kernel
def answered(codes: Any, numbers: Any, question: Any, out: Any) -> None:
    """Mark, in `out`, the questions of which any code or number is there; `question` is that of each, codes first."""
    for c in range(len(codes)):
        own = out[question[c]]
        for b in range(codes.shape[1]):
            own[b] |= codes[c, b] >= 0
    for c in range(len(numbers)):
        own = out[question[len(codes) + c]]
        for b in range(codes.shape[1]):
            own[b] |= not np.isnan(numbers[c, b])


@kernel
def keep(codes: Any, numbers: Any, questions: Any, question: Any, out_codes: Any, out_numbers: Any) -> None:
    """Write the codes and numbers whose `question` is marked in `questions`, (questions, people); blanks elsewhere."""
    n = len(codes)
    for c in range(n):
        own, marked, out = codes[c], questions[question[c]], out_codes[c]
        for b in range(len(out)):
            out[b] = own[b] if marked[b] else np.int16(-1)
    nothing = numbers.dtype.type(np.nan)
    for c in range(len(numbers)):
        number, there, to = numbers[c], questions[question[n + c]], out_numbers[c]
        for b in range(len(to)):
            to[b] = number[b] if there[b] else nothing
