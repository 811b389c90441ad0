"""What SPSS and Stata files can hold: names, lengths, numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LONGEST_RANGE = 100
"""How many codes a range of missing codes may have, so that they are all listed when it is read."""
EXACT = 2**53
"""The whole numbers up to here are exact in both kinds of files."""
SHORT = 2147483620
"""The whole numbers up to here fit into 32 bits, with room for Stata's blanks."""


@dataclass(frozen=True)
class Limits:
    """What a kind of file can hold."""

    kind: str
    name: re.Pattern[str]
    longest_name: int
    name_rule: str
    label: int
    """The longest label; SPSS counts bytes, Stata characters."""
    value_label: int
    largest: float
    letters: bool
    """It is Stata: missing codes are the letters a to z and nothing else, and there are no measure levels."""

    def length(self, text: str) -> int:
        """Measure a text as the file does."""
        return len(text) if self.letters else len(text.encode("utf-8", "replace"))

    def cut(self, text: str, most: int) -> str:
        """Shorten a text to what fits."""
        return text[:most] if self.letters else text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse a name that the file cannot hold; SPSS takes names that differ only in capitals for one."""
        seen: dict[str, str] = {}
        for name in names:
            if not self.name.fullmatch(name) or self.length(name) > self.longest_name:
                raise ValueError(f"{self.kind} takes no column named {name!r}: {self.name_rule}; rename it")
            other = seen.setdefault(name if self.letters else name.lower(), name)
            if other != name:
                raise ValueError(f"{self.kind} takes the columns {other!r} and {name!r} for one; rename one of them")


SPSS = Limits(
    kind="SPSS",
    name=re.compile(r"(?!(?i:all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with)$)[^\W\d_][\w.$#@]*(?<!\.)"),
    longest_name=64,
    name_rule="a name is a letter, then letters, digits and _ . $ # @, at most 64 bytes, and no word such as ALL or BY",
    label=255,
    value_label=120,
    largest=np.inf,
    letters=False,
)
_STATA_WORDS = (
    "_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|str[0-9]*|strL|using|with"
)
STATA = Limits(
    kind="Stata",
    name=re.compile(rf"(?!(?:{_STATA_WORDS})$)[^\W\d]\w*"),
    longest_name=32,
    name_rule="a name is a letter or _, then letters, digits and _, at most 32, and no word such as if or int",
    label=80,
    value_label=32000,
    largest=8.9e307,
    letters=True,
)
