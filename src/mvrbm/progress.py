"""What takes long tells how far it is; whoever listens shows it. Nobody listens unless asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """How far something is."""

    what: str
    done: int
    total: int
    """The most there can be to do; with `may_end` it can end before."""
    unit: str = "rows"
    may_end: bool = False
    said: dict[str, float] = field(default_factory=dict)
    """What else there is to say, by name."""


_listener: ContextVar[Callable[[Step], None] | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Callable[[Step], None]) -> Iterator[None]:
    """Let a function hear each step that is told within the block, in this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(step: Step) -> None:
    """Tell how far something is."""
    listener = _listener.get()
    if listener is not None:
        listener(step)
