"""The model on a cluster of processes: that of one machine, bit for bit, whoever is lost on the way."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

dd = pytest.importorskip("dask.dataframe")
from distributed import Client  # noqa: E402

from mvrbm import MVRBM, Schema, load  # noqa: E402
from mvrbm.answers import Patched  # noqa: E402
from mvrbm.dask import DaskMVRBM, cluster, local_cluster, spread  # noqa: E402
from mvrbm.datasets import make_survey  # noqa: E402
from mvrbm.encoding import encode  # noqa: E402
from mvrbm.training import engine  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("default"),  # those of other libraries
    pytest.mark.usefixtures("small_chunks"),
]

FRAME, SCHEMA = make_survey(300, random_state=4, missing=0.2)
FRAME = FRAME.assign(w=np.random.default_rng(0).integers(0, 3, len(FRAME)) * 1.5, who=np.arange(len(FRAME)))
SCHEMA = Schema(list(SCHEMA), weight="w")
FIVE_ROUNDS = {"n_models": 1, "refit_epochs": 0, "max_epochs": 1, "early_stopping": False, "batch_size": 60}


def settings(**other):
    return {
        "n_hidden": 5,
        "schema": SCHEMA,
        "max_epochs": 2,
        "refit_epochs": 1,
        "random_state": 0,
        "n_models": 1,
    } | other


def parts(frame=FRAME, n=3):
    return dd.from_pandas(frame, npartitions=n, sort=False)


def same(found, expected):
    np.testing.assert_array_equal(found.rbm_.parameters.vector, expected.rbm_.parameters.vector)
    assert found.history_ == expected.history_
    for a, b in zip(found.rbm_.others, expected.rbm_.others, strict=True):
        np.testing.assert_array_equal(a.parameters.vector, b.parameters.vector)


@pytest.fixture(scope="module")
def client():
    with local_cluster(2, ttl="15s") as two, Client(two) as own:
        yield own


@pytest.fixture(scope="module")
def one():
    with local_cluster(1) as alone, Client(alone) as own:
        yield own


@pytest.mark.timeout(600)
def test_a_cluster_gives_the_model_of_one_machine(client, tmp_path):
    """All six types with blanks and weights."""
    expected = MVRBM(**settings()).fit(FRAME)
    found = DaskMVRBM(client=client, **settings()).fit(parts())
    same(found, expected)
    found.save(tmp_path / "found.mvrbm")
    expected.save(tmp_path / "expected.mvrbm")
    assert (tmp_path / "found.mvrbm").read_bytes() == (tmp_path / "expected.mvrbm").read_bytes()
    assert type(found.to_local()) is MVRBM
    own = found.complete(parts()).compute()
    pd.testing.assert_frame_equal(own.astype(str), expected.complete(FRAME).astype(str))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_files_and_what_comes_of_a_model(client, tmp_path):
    for n in range(3):
        table = pa.Table.from_pandas(FRAME.iloc[100 * n : 100 * n + 100], preserve_index=False)
        pq.write_table(table, tmp_path / f"{n}.parquet")
    pattern = str(tmp_path / "*.parquet")
    cd = settings(objective="cd")
    found, expected = DaskMVRBM(client=client, **cd).fit(pattern), MVRBM(**cd).fit(FRAME)
    same(found, expected)
    own = found.complete(pattern).compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(own.astype(str), expected.complete(FRAME).astype(str))
    vectors = found.transform(parts()).compute()
    np.testing.assert_array_equal(vectors.to_numpy(), expected.transform(FRAME))
    question = SCHEMA.names[0]
    said = found.predict(parts(), question).compute()
    assert list(said[question]) == list(expected.predict(FRAME, question))
    chances = found.predict_proba(parts(), question).compute()
    pd.testing.assert_frame_equal(chances, expected.predict_proba(FRAME, question))
    every = found.predict(parts()).compute()
    pd.testing.assert_frame_equal(
        every[SCHEMA.columns].astype(str), expected.predict(FRAME)[SCHEMA.columns].astype(str)
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_persistent_chains_and_parts_that_come_later(client):
    pcd = settings(objective="pcd", n_chains=20, max_epochs=1)
    same(DaskMVRBM(client=client, **pcd).fit(parts()), MVRBM(**pcd).fit(FRAME))
    found, expected = DaskMVRBM(client=client, **pcd), MVRBM(**pcd)
    for own in (FRAME.iloc[:200], FRAME.iloc[200:]):
        found.partial_fit(parts(own, 2))
        expected.partial_fit(own)
    same(found, expected)


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (spread, engine):
        monkeypatch.setattr(module, "BLOCK", 16)
    monkeypatch.setattr(engine, "POOL", 3)


@pytest.mark.timeout(300)
def test_rows_and_rounds_over_many_blocks_and_pools(client, small_blocks, monkeypatch):
    """Blocks that lie across partitions, batches across pools, sums over several tasks."""
    monkeypatch.setattr(spread, "_FAN", 2)
    told = settings(objective="cd", batch_size=70, max_epochs=1)
    expected = MVRBM(**told).fit(FRAME)
    same(DaskMVRBM(client=client, **told).fit(parts(n=7)), expected)
    own = encode(FRAME, expected.schema_)
    table = spread.Spread(cluster.Cluster(client), *submitted(client, own, (0, 10, 10, 150, 300)))
    random = np.random.default_rng(0)
    some = np.sort(random.permutation(300)[:30])
    instead = own.take(some[::-1])
    for found, like in ((table, own), (Patched(table, some, instead), Patched(own, some, instead))):
        rows = random.integers(0, 300, 200)
        np.testing.assert_array_equal(found.take(rows).codes, like.take(rows).codes)
        np.testing.assert_array_equal(found.take(rows).numbers, like.take(rows).numbers)
    with pytest.raises(LookupError, match="nobody had expected"):
        table.placed(np.arange(5))


def submitted(client, own, cuts):
    pieces = [own.span(a, b) for a, b in pairwise(cuts)]
    return lambda: [client.submit(spread._told, piece, pure=False) for piece in pieces], [p.n_rows for p in pieces]


@pytest.mark.timeout(300)
def test_what_is_wrong_is_told_before_training_starts(client, tmp_path, monkeypatch):
    monkeypatch.setattr(MVRBM, "_train_joint", lambda *_: pytest.fail("training started"))
    own = DaskMVRBM(client=client, **settings())
    name = next(q.name for q in SCHEMA if q.kind == "categorical")
    wrong = FRAME.assign(**{name: FRAME[name].astype(object).where(FRAME.index != 150, "nobody")})
    with pytest.raises(ValueError, match=rf"partition 1: question {name!r}: value 'nobody' \(row 50\)"):
        own.fit(parts(wrong))
    pq.write_table(pa.Table.from_pandas(FRAME), tmp_path / "0.parquet")
    (tmp_path / "1.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match=r"1\.parquet: cannot be read as Parquet"):
        own.fit(tmp_path)
    with pytest.raises(TypeError, match="DataFrame is no table for a cluster"):
        own.fit(FRAME)
    with pytest.raises(ValueError, match="are for a table in memory"):
        own.complete(parts(), draws=2)


# What follows loses workers on purpose.


class Harm:
    """Does something to a worker in the middle of each round, the first time that the round is run."""

    def __init__(self, client, monkeypatch, sign):
        self.client, self.sign, self.done, self.stopped = client, sign, 0, []
        self._seen = set()
        asked = spread.Rounds._asked

        def harmful(rounds, rbm, jobs):
            future = asked(rounds, rbm, jobs)
            step = jobs[0].piece.step
            if step not in self._seen:
                self._seen.add(step)
                self.strike()
            return future

        monkeypatch.setattr(spread.Rounds, "_asked", harmful)

    def strike(self):
        workers = sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        victim = workers[self.done % len(workers)]
        (pid,) = self.client.run(os.getpid, workers=[victim]).values()
        os.kill(pid, self.sign)
        self.stopped += [pid] if self.sign == signal.SIGSTOP else []
        self.done += 1

    def end(self):
        for child in psutil.Process().children(recursive=True):  # a number alone may by now be another process's
            if child.pid in self.stopped:
                child.kill()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("objective", ["masked", "cd", "pcd"])
def test_one_worker_and_two_give_the_bits_of_none(client, one, objective):
    more = {"n_chains": 20} if objective == "pcd" else {"n_models": 2} if objective == "masked" else {}
    told = settings(objective=objective, **more) | ({} if objective == "masked" else {"n_models": 1})
    expected = MVRBM(**told).fit(FRAME)
    for own in (one, client):
        same(DaskMVRBM(client=own, **told).fit(parts()), expected)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("objective", ["masked", "pcd"])
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_lost_in_every_round_changes_nothing(monkeypatch, sign, objective):
    told = settings(objective=objective, **FIVE_ROUNDS) | ({"n_chains": 20} if objective == "pcd" else {})
    expected = MVRBM(**told).fit(FRAME)
    with local_cluster(2, ttl="15s") as two, Client(two) as own:
        harm = Harm(own, monkeypatch, sign)
        try:
            same(DaskMVRBM(client=own, **told).fit(parts()), expected)
        finally:
            harm.end()
    assert harm.done == 5


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_silent_worker_of_a_patient_scheduler_is_given_up_here(monkeypatch):
    """Where the scheduler would wait for 5 minutes, a round has a limit of its own."""
    monkeypatch.setattr(cluster, "_FIRST_LIMIT", 40.0)
    monkeypatch.setattr(cluster, "_LEAST_LIMIT", 12.0)
    monkeypatch.setattr(cluster, "_SLOWER", 1.0)
    told = settings(objective="cd", **FIVE_ROUNDS)
    expected = MVRBM(**told).fit(FRAME)
    with local_cluster(2, ttl="5 minutes") as two, Client(two) as own:
        harm = Harm(own, monkeypatch, signal.SIGSTOP)
        harm._seen |= {0, 2, 3, 4}
        try:
            same(DaskMVRBM(client=own, **told).fit(parts()), expected)
        finally:
            harm.end()
    assert harm.done == 1


DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
import test_dask as t
from mvrbm.training import checkpoint

if __name__ == "__main__":
    checkpoint.EVERY = 0.0
    t.engine._LEAST_CHUNK = 1
    told = t.settings(objective="pcd", n_chains=20, max_epochs=40, early_stopping=False)
    with t.local_cluster(2) as two, t.Client(two) as client:
        model = t.DaskMVRBM(client=client, verbose=1, **told).fit(t.parts(), checkpoint=sys.argv[2])
    model.save(sys.argv[3])
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_driver_that_is_killed_goes_on(tmp_path):
    (tmp_path / "driver.py").write_text(DRIVER)
    command = [sys.executable, "driver.py", str(Path(__file__).parent), "run", "found.mvrbm"]
    kills = 0
    for epochs in (5, 12, None):
        with subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as driver:
            try:
                for line in driver.stderr:
                    if epochs and line.startswith("epoch ") and int(line.split()[1].rstrip(":")) >= epochs:
                        os.kill(driver.pid, signal.SIGKILL)
                        kills += 1
                        break
                driver.stderr.close()
                driver.wait(300)
            finally:
                end_group(driver.pid)
    assert kills == 2
    assert driver.returncode == 0
    told = settings(objective="pcd", n_chains=20, max_epochs=40, early_stopping=False)
    expected = MVRBM(verbose=0, **told).fit(FRAME)
    np.testing.assert_array_equal(
        load(tmp_path / "found.mvrbm").rbm_.parameters.vector, expected.rbm_.parameters.vector
    )


def end_group(group):
    """End what a driver left behind."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_scoring_with_a_worker_killed_fills_every_row_once():
    told = settings(objective="cd", max_epochs=1)
    expected = MVRBM(**told).fit(FRAME)
    many = pd.concat([FRAME] * 40, ignore_index=True).assign(who=np.arange(300 * 40))
    with local_cluster(2, ttl="15s") as two, Client(two) as own:
        model = DaskMVRBM(client=own, **told).fit(parts())
        future = own.compute(model.complete(parts(many, 40)))
        (pid, _) = own.run(os.getpid).values()
        deadline = time.monotonic() + 60
        while not any(own.processing().values()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not future.done()
        os.kill(pid, signal.SIGKILL)
        found = future.result(timeout=300)
    assert sorted(found["who"]) == list(range(len(many)))
    whole = expected.complete(many)
    found = found.sort_values("who").reset_index(drop=True)
    pd.testing.assert_frame_equal(found.astype(str), whole.astype(str))
    assert found[SCHEMA.columns].isna().sum().sum() == whole[SCHEMA.columns].isna().sum().sum()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_million_parameters(client):
    frame, schema = make_survey(128, binary=400, categorical=0, ordinal=0, continuous=0, random_state=0)
    told = {"n_hidden": 25_000, "schema": schema, "objective": "cd", "max_epochs": 1, "early_stopping": False}
    told |= {"random_state": 0, "batch_size": 64}
    found = DaskMVRBM(client=client, **told).fit(parts(frame, 2))
    assert found.rbm_.parameters.vector.size > 10_000_000
    np.testing.assert_array_equal(found.rbm_.parameters.vector, MVRBM(**told).fit(frame).rbm_.parameters.vector)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_command_starts_a_cluster_of_its_own(tmp_path, monkeypatch):
    from mvrbm.cli import main

    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.Table.from_pandas(FRAME, preserve_index=False), "survey.parquet")
    SCHEMA.to_yaml("survey.schema.yaml")
    small = ["--n-hidden", "3", "--objective", "cd", "--max-epochs", "1", "--quiet"]
    assert main(["fit", "survey.parquet", "-o", "a.mvrbm", *small]) == 0
    assert main(["fit", "survey.parquet", "-o", "b.mvrbm", "--dask", "local", *small]) == 0
    assert Path("a.mvrbm").read_bytes() == Path("b.mvrbm").read_bytes()
    assert threading.active_count() < 50
