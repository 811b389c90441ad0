"""A run that is saved as it goes and killed ends where an undisturbed one ends, bit for bit."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mvrbm import MVRBM, MVRBMPredictor
from mvrbm.datasets import make_survey
from mvrbm.training import checkpoint, stopping, trainer

FRAME, SCHEMA = make_survey(300, count=2, random_state=3)
SLOW = {"max_epochs": 24, "n_models": 1}
"""A run whose rate is raised, once the test sees to it."""


def model(**settings):
    return MVRBM(**{"n_hidden": 5, "schema": SCHEMA, "max_epochs": 60, "random_state": 0, "patience": 2, **settings})


@pytest.fixture
def often(monkeypatch):
    """Save after every epoch, however short."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)


class Killed(BaseException):
    """What ends a run at once; no handler of it knows it."""


def stop_after(monkeypatch, n):
    """End the run in the middle of the epoch after the next n."""
    done = iter(range(10**6))
    epoch = trainer._Run._epoch

    def dying(self, number, rate):
        if next(done) == n:
            self.rbm.parameters.vector[:] += 1  # half an epoch, never saved
            raise Killed
        return epoch(self, number, rate)

    monkeypatch.setattr(trainer._Run, "_epoch", dying)


@pytest.mark.parametrize(
    "settings",
    [
        {"patience": 4},  # killed while it waits, and after it was slowed
        SLOW,  # killed after it was raised
        {"objective": "pcd", "n_chains": 20},
        {"optimiser": "sgd", "momentum": 0.5, "learning_rate": 0.5},
        {"recipe": "paper", "max_epochs": 12},
        {"early_stopping": False, "max_epochs": 12},
        {"learning_rate": 30.0, "max_epochs": 20, "objective": "cd"},  # goes astray and is taken back
    ],
)
def test_a_run_that_is_killed_again_and_again_ends_where_an_undisturbed_one_ends(
    often, monkeypatch, tmp_path, settings
):
    monkeypatch.setattr(trainer, "_LEAST_STEPS", 1 if "patience" in settings or settings is SLOW else 100)
    if settings is SLOW:
        monkeypatch.setattr(trainer, "_LONG", 6)
        monkeypatch.setattr(trainer, "_LONG_STEPS", 1)
        monkeypatch.setattr(stopping, "_WORTH", -1.0)  # any loss counts as one that falls
    model(**settings).fit(FRAME).save(tmp_path / "whole.mvrbm")
    for n in (3, 0, 1, 4):
        with monkeypatch.context() as patch:
            stop_after(patch, n)
            with pytest.raises(Killed):
                model(**settings).fit(FRAME, checkpoint=tmp_path / "run")
    resumed = model(**settings).fit(FRAME, checkpoint=tmp_path / "run")
    resumed.save(tmp_path / "resumed.mvrbm")
    assert (tmp_path / "resumed.mvrbm").read_bytes() == (tmp_path / "whole.mvrbm").read_bytes()
    if settings is SLOW:
        rates = [epoch["learning_rate"] for epoch in resumed.history_.epochs]
        assert rates[0] < rates[8] < rates[-1]
    if settings.get("learning_rate") == 30.0:
        assert resumed.history_.undone  # it did go astray
    with monkeypatch.context() as patch:  # a finished run trains no more
        stop_after(patch, 0)
        model(**settings).fit(FRAME, checkpoint=tmp_path / "run").save(tmp_path / "again.mvrbm")
    assert (tmp_path / "again.mvrbm").read_bytes() == (tmp_path / "whole.mvrbm").read_bytes()
    assert all(path.name.startswith("training") and path.suffix == ".state" for path in (tmp_path / "run").iterdir())


@pytest.mark.parametrize("method", ["discriminative", "finetune"])
def test_a_predictor_that_is_killed_ends_where_an_undisturbed_one_ends(often, monkeypatch, tmp_path, method):
    """In any of its machines, and in what comes before each."""

    def fitted(checkpoint=None):
        told = {"n_hidden": 3, "max_epochs": 3, "method": method, "random_state": 0}
        return MVRBMPredictor(SCHEMA.names[0], schema=SCHEMA, **told).fit(FRAME, checkpoint=checkpoint)

    fitted().save(tmp_path / "whole.mvrbm")
    n_epochs = 9 if method == "discriminative" else 18
    for _ in range((n_epochs - 1) // 2):
        with monkeypatch.context() as patch:
            stop_after(patch, 2)
            with pytest.raises(Killed):
                fitted(tmp_path / "run")
    fitted(tmp_path / "run").save(tmp_path / "resumed.mvrbm")
    assert (tmp_path / "resumed.mvrbm").read_bytes() == (tmp_path / "whole.mvrbm").read_bytes()


@pytest.mark.usefixtures("small_chunks")
def test_another_number_of_threads_may_go_on(often, monkeypatch, tmp_path):
    model().fit(FRAME).save(tmp_path / "whole.mvrbm")
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Killed):
            model(n_threads=1).fit(FRAME, checkpoint=tmp_path / "run")
    model(n_threads=2).fit(FRAME, checkpoint=tmp_path / "run").save(tmp_path / "resumed.mvrbm")
    assert (tmp_path / "resumed.mvrbm").read_bytes() == (tmp_path / "whole.mvrbm").read_bytes()


@pytest.mark.parametrize(
    ("settings", "frame", "words"),
    [
        ({"learning_rate": 0.02}, FRAME, "it is of a run with other settings; give another folder"),
        ({"n_hidden": 6}, FRAME, "other settings"),
        ({"random_state": 1}, FRAME, "other data and settings"),  # other answers are hidden
        ({}, FRAME.iloc[::-1], "other data and settings|other data"),
        ({}, FRAME.assign(binary_1=FRAME["binary_1"].iloc[::-1].to_numpy()), "other data"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(tmp_path, settings, frame, words):
    model(max_epochs=2).fit(FRAME, checkpoint=tmp_path)
    before = (tmp_path / "training.state").read_bytes()
    with pytest.raises(ValueError, match=words):
        model(max_epochs=2, **settings).fit(frame, checkpoint=tmp_path)
    assert (tmp_path / "training.state").read_bytes() == before


def test_a_checkpoint_that_is_broken_is_refused(tmp_path):
    model(max_epochs=2).fit(FRAME, checkpoint=tmp_path)
    whole = (tmp_path / "training.state").read_bytes()
    for broken in (whole[: len(whole) // 2], b"", bytes([*whole[:-1], whole[-1] ^ 1])):
        (tmp_path / "training.state").write_bytes(broken)
        with pytest.raises(ValueError, match="give another folder, or delete it to start anew"):
            model(max_epochs=2).fit(FRAME, checkpoint=tmp_path)


def test_without_a_seed_there_is_nothing_to_go_on_from(tmp_path):
    for seed in (None, np.random.RandomState(0)):
        with pytest.raises(ValueError, match="checkpoint needs a number for random_state"):
            model(random_state=seed).fit(FRAME, checkpoint=tmp_path)


def test_ctrl_c_leaves_the_checkpoint_of_the_last_whole_epoch(often, monkeypatch, tmp_path):
    model().fit(FRAME).save(tmp_path / "whole.mvrbm")
    with monkeypatch.context() as patch:
        stop_after(patch, 3)
        patch.setattr(sys.modules[__name__], "Killed", KeyboardInterrupt)
        which, missing = "training was interrupted in epoch 4", "the model has 1 of 2 machines"
        with pytest.warns(UserWarning, match=which), pytest.warns(UserWarning, match=missing):
            model().fit(FRAME, checkpoint=tmp_path / "run")
    model().fit(FRAME, checkpoint=tmp_path / "run").save(tmp_path / "resumed.mvrbm")
    assert (tmp_path / "resumed.mvrbm").read_bytes() == (tmp_path / "whole.mvrbm").read_bytes()


def started(folder, out):
    command = [
        *["-m", "mvrbm", "fit", "survey.csv", "--n-hidden", "20", "--max-epochs", "250", "--patience", "250"],
        "-o",
        out,
    ]
    return subprocess.Popen(
        [sys.executable, *command, "--checkpoint", "run", "--quiet"], cwd=folder, stderr=subprocess.PIPE, text=True
    )


def test_fit_killed_twice_by_sigkill_ends_where_an_undisturbed_run_ends(tmp_path):
    """Each time after a checkpoint was written, by the command line in a process of its own."""
    frame, schema = make_survey(1000, random_state=0)
    frame.to_csv(tmp_path / "survey.csv", index=False)
    schema.to_yaml(tmp_path / "survey.schema.yaml")
    saved = tmp_path / "run" / "training.state"
    written = []
    for _ in range(2):
        process = started(tmp_path, "killed.mvrbm")
        before = saved.stat().st_mtime_ns if saved.exists() else 0
        deadline = time.monotonic() + 120
        while not saved.exists() or saved.stat().st_mtime_ns == before:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stderr.close()
        written.append(saved.read_bytes())
    assert written[0] != written[1]  # the second went on
    assert not (tmp_path / "killed.mvrbm").exists()
    resumed = started(tmp_path, "killed.mvrbm")
    assert resumed.wait() == 0, resumed.stderr.read()
    resumed.stderr.close()
    saved.unlink()
    undisturbed = started(tmp_path, "whole.mvrbm")
    assert undisturbed.wait() == 0, undisturbed.stderr.read()
    undisturbed.stderr.close()
    assert (tmp_path / "killed.mvrbm").read_bytes() == (tmp_path / "whole.mvrbm").read_bytes()
