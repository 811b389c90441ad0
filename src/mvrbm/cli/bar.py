"""How far a command is, on the terminal as a bar, elsewhere as a line now and then.

Our own: what a bar must say here (the error on hidden answers, a time that is only the most it can take)
no library of bars says by itself, and none need be installed.
"""

from __future__ import annotations

import shutil
import sys
import time

from mvrbm.progress import Step

_SHORT = 1.0
"""Seconds that pass without a word."""
_LINES = 10.0
"""Seconds between two lines where there is no terminal."""


class Bar:
    """Shows the steps that it hears of, on stderr."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._what, self._begun, self._first, self._shown, self._done = "", 0.0, 0, 0.0, 0
        self._drawn = False

    def __call__(self, step: Step) -> None:
        """Show a step, if it is time to."""
        now = time.monotonic()
        if step.what != self._what or step.done <= self._done:
            self.clear()
            self._what, self._begun, self._first, self._shown = step.what, now, step.done, now
        self._done = step.done
        if now - self._begun < _SHORT or now - self._shown < (0.1 if self._terminal else _LINES):
            return
        self._shown = now
        text = self._said(step, (step.done - self._first) / (now - self._begun))
        if self._terminal:
            sys.stderr.write("\r\033[K" + text[: shutil.get_terminal_size().columns - 1])
            sys.stderr.flush()
            self._drawn = True
        else:
            print(text, file=sys.stderr, flush=True)

    def _said(self, step: Step, rate: float) -> str:
        """Say it in a line; on a terminal in one that fits 80 columns."""
        left = _minutes((step.total - step.done) / rate if rate else 0.0)
        loss = f", error on hidden answers {step.said['loss']:.3f}" if "loss" in step.said else ""
        told = f"{step.done:,}/{step.total:,}", (f"{rate:,.1f}/s" if rate < 100 else f"{rate:,.0f}/s") + loss
        if self._terminal:
            bar = "#" * int(10 * step.done / max(step.total, 1))
            return f"{step.what} [{bar:10}] {', '.join(told)}, {'<' if step.may_end else ''}{left} left"
        return f"{step.what} {told[0]} {step.unit}, {told[1]}, {'at most ' if step.may_end else ''}{left} left"

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self._drawn = False


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
