"""From rows of compact answers to a chunk: people in columns, blanks marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mvrbm.kernels.compile import kernel


@kernel
def gather_codes(codes: Any, rows: Any, columns: Any, out: Any) -> None:
    """out[c, b] = the code in column c of row b, or -1 for a blank."""
    blank = codes.dtype.type(-1)  # the largest value of an unsigned type
    for b in range(len(rows)):
        row = codes[rows[b]]
        for c in range(len(columns)):
            code = row[columns[c]]
            out[c, b] = np.int32(-1) if code == blank else np.int32(code)


@kernel
def keep_blanks(like: Any, codes: Any) -> None:
    """Blank every code that is blank in `like`."""
    for c in range(codes.shape[0]):
        for b in range(codes.shape[1]):
            codes[c, b] = codes[c, b] if like[c, b] >= 0 else np.int32(-1)
