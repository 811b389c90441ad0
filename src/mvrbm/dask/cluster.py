"""Work on a Dask cluster whose workers may be lost: whatever is asked for is pure, and asked for again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import dask
from distributed import Client, KilledWorker, LocalCluster
from distributed.client import default_client
from distributed.comm import CommClosedError

LOST = (TimeoutError, CancelledError, KilledWorker, CommClosedError)
"""What a lost or silent worker looks like from here."""
_MOST = 6  # times that something is asked for
_FIRST_LIMIT = 300.0  # seconds, in which a worker may have to compile its kernels
_LEAST_LIMIT = 20.0
_SLOWER = 30.0  # times the longest so far
SILENT = 20.0
"""Seconds without a sign of life after which a worker is given up."""

log = logging.getLogger("mvrbm.dask")


class Cluster:
    """A client, and results from workers that may be lost."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.token = uuid4().hex[:8]
        self.renew: Callable[[], None] | None = None
        """Makes anew what is kept on workers; called when asking again was not enough."""
        self._longest = 0.0
        self._n_keys = 0

    def submit(self, name: str, function: Callable[..., Any], *given: Any, worker: str | None = None) -> Any:
        """Have a function called on a worker (on `worker`, if that can be); the dashboard shows it by its name."""
        self._n_keys += 1
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        return self.client.submit(function, *given, key=f"{name}-{self.token}-{self._n_keys}", pure=False, **where)

    def results(self, ask: Callable[[], Sequence[Any]], limit: float = _FIRST_LIMIT) -> list[Any]:
        """The results of the futures that `ask` makes; if a worker is lost or silent, it is asked again."""
        for number in range(1, _MOST + 1):
            begun = time.monotonic()
            futures: Sequence[Any] = []
            try:
                futures = ask()
                found = self._gather(list(futures), limit)
                self._longest = max(self._longest, time.monotonic() - begun)
                return found
            except LOST as error:
                if number == _MOST:
                    raise
                took = time.monotonic() - begun
                log.warning("asked for %s again after %.1f s: %r", [f.key for f in futures][:1], took, error)
                self._recover(list(futures), number)
                limit *= 2
        raise AssertionError

    def round_limit(self) -> float:
        """The seconds that a round may take before its workers are looked at, from what the longest took."""
        return max(_LEAST_LIMIT, _SLOWER * self._longest) if self._longest else _FIRST_LIMIT

    def scatter(self, data: Any) -> Any:
        """Put one thing on a worker. In a list, since a mapping's keys would become keys of the cluster."""

        async def put() -> Any:
            return await self.client.scatter([data], hash=False, asynchronous=True)

        # its own timeout does not end the sending to a worker that does not listen
        return self.client.sync(put, callback_timeout=self.round_limit())[0]

    def workers(self) -> list[str]:
        """The addresses of the workers there are, once there is one."""
        found = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        if not found:
            self.client.wait_for_workers(1, timeout=_FIRST_LIMIT)
            found = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        return found

    def _gather(self, futures: list[Any], limit: float) -> list[Any]:
        async def all_of_them() -> Any:
            return await self.client.gather(futures, asynchronous=True)

        found: list[Any] = self.client.sync(all_of_them, callback_timeout=limit)
        return found

    def _recover(self, futures: list[Any], number: int) -> None:
        """Forget what failed, give up silent workers, and wait until there is one that works."""
        try:
            self.client.cancel(futures, force=True)
            self.client.run_on_scheduler(_give_up, SILENT)
            self.client.wait_for_workers(1, timeout=_FIRST_LIMIT)
        except LOST as error:
            log.warning("while recovering: %r", error)
        if number > 1 and self.renew:
            self.renew()


async def _give_up(silent: float, dask_scheduler: Any = None) -> list[str]:
    """On the scheduler: start silent workers again, or let go of those that nobody can start."""
    now = time.time()
    gone = [w.address for w in dask_scheduler.workers.values() if now - w.last_seen > silent]
    if gone:
        await dask_scheduler.restart_workers(
            gone, timeout=10, wait_for_workers=False, on_error="return", stimulus_id=f"mvrbm-silent-{now}"
        )
    return gone


@contextmanager
def client_of(given: Client | str | None) -> Iterator[Client]:
    """The client that is given or, without one, the one that there is; else, or if "local", processes of this machine.

    A text is the address of a scheduler.
    """
    if isinstance(given, Client):
        yield given
        return
    if given is None:
        try:
            yield default_client()
            return
        except ValueError:
            given = "local"
    if given != "local":
        with Client(given) as client:
            yield client
        return
    with local_cluster() as cluster, Client(cluster) as client:
        yield client


@contextmanager
def local_cluster(n_workers: int | None = None, ttl: str = "30s") -> Iterator[LocalCluster]:
    """Processes of this machine, one for each processor, that talk over the loopback alone.

    A worker without a sign of life for `ttl` is started again. While it imports it gives none, so it does that first.
    """
    told = {
        "distributed.scheduler.worker-ttl": ttl,
        "distributed.scheduler.allowed-failures": 10,
        # else a worker that takes longer than 15 s to start again is not waited for, and in the end there is none
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    own: dict[str, Any] = {"processes": True, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with dask.config.set(told), LocalCluster(n_workers, preload=["mvrbm.dask"], **own) as cluster:
        yield cluster
