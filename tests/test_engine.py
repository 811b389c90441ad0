"""The parts of the training loop by themselves: order of rows, sums, threads, optimisers, patience."""

import math

import numpy as np
import pytest

from mvrbm.training import Settings, engine
from mvrbm.training.optimiser import SGD, Adam, largest
from mvrbm.training.stopping import Patience


@pytest.mark.parametrize("n_rows", [1, 50, 64, 65, 700])
def test_an_epoch_visits_each_row_once(monkeypatch, n_rows):
    monkeypatch.setattr(engine, "BLOCK", 16)
    monkeypatch.setattr(engine, "POOL", 4)
    seen = [list(rows) for rows in engine.batches(3, 5, n_rows, 50)]
    assert sorted(row for rows in seen for row in rows) == list(range(n_rows))
    assert all(len(rows) == 50 for rows in seen[:-1])
    assert seen == [list(rows) for rows in engine.batches(3, 5, n_rows, 50)]
    if n_rows == 700:
        assert seen != [list(rows) for rows in engine.batches(3, 6, n_rows, 50)]
        assert len({row // 16 for row in seen[0]}) == 4  # a batch mixes the blocks of a pool


@pytest.mark.parametrize("n", range(1, 20))
def test_a_sum_has_the_shape_of_a_tree(n):
    values = np.random.default_rng(n).standard_normal((n, 5)).astype(np.float32)

    def tree(parts):
        """The largest power of two on the left, each half alike; then what is left, from the right."""
        if len(parts) == 1:
            return parts[0]
        half = 1 << (len(parts) - 1).bit_length() - 1
        return tree(parts[:half]) + tree(parts[half:])

    total = engine.TreeSum(values[0])
    for row in values:
        buffer = total.buffer()
        buffer[:] = row
        total.add(buffer)
    np.testing.assert_array_equal(total.result(), tree(list(values)))


def test_workers_give_results_in_order_and_raise_what_a_thread_raises():
    with engine.Workers(3) as workers:
        assert list(workers.map(lambda i: i * i, range(100))) == [i * i for i in range(100)]

        def fail(i):
            if i == 7:
                raise ZeroDivisionError("seven")
            return i

        with pytest.raises(ZeroDivisionError, match="seven"):
            list(workers.map(fail, range(20)))
        assert list(workers.map(str, range(3))) == ["0", "1", "2"]  # they still work


def test_sgd_and_adam_against_their_definitions():
    rng = np.random.default_rng(0)
    gradients = rng.standard_normal((5, 40))
    for make in (lambda: SGD(40, np.dtype(float), momentum=0.7), lambda: Adam(40, np.dtype(float))):
        optimiser, theta = make(), np.ones(40)
        expected, velocity, first, second = np.ones(40), np.zeros(40), np.zeros(40), np.zeros(40)
        for n, g in enumerate(gradients, 1):
            optimiser.step(theta, g, 0.1)
            velocity = 0.7 * velocity + 0.1 * g
            first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
            adam = 0.1 * (first / (1 - 0.9**n)) / (np.sqrt(second / (1 - 0.999**n)) + 1e-8)
            expected += velocity if isinstance(optimiser, SGD) else adam
            np.testing.assert_allclose(theta, expected, rtol=1e-12)


def test_schedules():
    def rates(schedule):
        return [Settings(schedule=schedule, max_epochs=4, learning_rate=1.0).rate(epoch, 9) for epoch in range(4)]

    assert rates("constant") == [1, 1, 1, 1]
    assert rates("linear") == [1, 0.75, 0.5, 0.25]
    assert rates("cosine") == pytest.approx([1, 0.5 + math.sqrt(0.125), 0.5, 0.5 - math.sqrt(0.125)])


def test_largest_sees_what_is_not_finite():
    assert largest(np.array([1.0, -3.0], np.float32)) == 3
    assert largest(np.array([1.0, np.nan], np.float32)) == math.inf
    assert largest(np.array([-np.inf, 2.0], np.float32)) == math.inf


def verdicts(losses, epochs=4, drops=1, raises=0):
    judge = Patience(epochs, drops, raises)
    return [judge.see(loss, np.zeros(1)) for loss in losses]


def test_patience():
    assert verdicts((2.0, 1.0, 2.5, 2.4, 0.9, 1.5, 1.5), epochs=2) == [
        "better",
        "better",
        "wait",
        "lower",
        "better",
        "wait",
        "stop",
    ]


def test_a_loss_that_falls_beneath_its_noise_is_waited_for():
    noise = np.random.default_rng(0).normal(0, 0.003, 200)
    falling = verdicts(1 - 0.001 * np.arange(200) + noise)
    assert "wait wait wait wait" in " ".join(falling)  # patience alone would have lowered the rate
    assert set(falling) == {"better", "wait"}
    for slope in (0.001, 0.0, -0.000005):  # the last falls by less than is worth it
        assert "lower" in verdicts(1 + slope * np.arange(200) + noise)


def test_the_longer_a_loss_fell_the_longer_it_is_waited_for():
    fall = [1 - 0.01 * epoch for epoch in range(40)]
    flat = [fall[-1] + 0.02] * 40
    waited = [verdicts(fall[-n:] + flat)[n:].index("lower") for n in (8, 40)]
    assert 3 <= waited[0] < 8  # patience alone, and little more
    assert 20 < waited[1] < 40  # until the last quarter of the epochs is no lower than the quarter before


def test_what_fell_before_the_rate_was_lowered_does_not_count():
    fall = [1 - 0.01 * epoch for epoch in range(40)]
    after = verdicts(fall + [fall[-1] + 0.02] * 60)
    first = after.index("lower")
    assert after[first + 1 : first + 5] == ["wait", "wait", "wait", "stop"]


def test_what_is_learnt_slowly_is_learnt_faster():
    noise = np.random.default_rng(0).normal(0, 0.003, 200)
    found = verdicts(1 - 0.001 * np.arange(200) + noise, raises=2)
    first, second = np.flatnonzero(np.array(found) == "raise")
    assert 20 <= first + 1 < 30  # after twenty epochs, as soon as one is not the best
    assert 20 <= second - first < 30
    assert found.count("raise") == 2
    assert "raise" not in verdicts(1 - 0.001 * np.arange(19) + noise[:19], raises=2)
    assert "raise" not in verdicts(1 + noise[:100], epochs=50, raises=2)  # nothing is learnt


def test_a_raised_rate_is_judged_by_itself_and_not_at_once():
    """They err more, for their noise, and a lower rate starts from the best of them."""
    judge = Patience(4, 1, 1)
    falling = iter(1 - 0.001 * np.arange(40) + np.tile([0.0, 0.002], 20))
    while judge.see(next(falling), np.zeros(1)) != "raise":
        pass
    after = [judge.see(loss, np.array([loss])) for loss in [1.2, 1.1] + [1.15] * 30]
    assert after[:2] == ["wait", "wait"]
    assert after.index("lower") == 11  # in the twelfth epoch
    np.testing.assert_array_equal(judge.back, [1.1])
    np.testing.assert_array_equal(judge.vector, [0])  # the best of all, which training ends with, is from before
    assert judge.see(0.5, np.array([0.5])) == "better"
    np.testing.assert_array_equal([judge.vector, judge.back], 0.5)
    assert after[after.index("lower") + 1 :].index("stop") == 3  # a lowered rate has no such grace


def test_the_best_epoch_is_told_however_near_it_is_to_the_one_before():
    """Right after a raise one may be lower than the best by too little to count, and the next by enough."""
    judge = Patience(4, 1, 1)
    falling = iter(1 - 0.001 * np.arange(40) + np.tile([0.0, 0.002], 20))
    while judge.see(next(falling), np.zeros(1)) != "raise":
        pass
    best = judge.best
    assert judge.see(best - 0.8e-5, np.ones(1)) == "wait"
    assert judge.see(best - 1.2e-5, np.full(1, 2.0)) == "better"
    np.testing.assert_array_equal([judge.vector, judge.back], 2.0)


def test_patience_goes_on_from_what_it_tells_of_itself():
    losses = [*(1 - 0.001 * np.arange(22) + np.tile([0.0, 0.002], 11)), *[1.1] * 30]
    whole = verdicts(losses, raises=2)
    for n in range(1, len(losses)):
        judge, other = Patience(4, 1, 2), Patience(4, 1, 2)
        first = [judge.see(loss, np.zeros(1)) for loss in losses[:n]]
        for name, value in judge.plain.items():
            setattr(other, name, value)
        assert first + [other.see(loss, np.zeros(1)) for loss in losses[n:]] == whole


def test_once_lowered_the_rate_is_not_raised():
    fall = [1 - 0.01 * epoch for epoch in range(10)]
    flat = [fall[-1] + 0.02] * 20
    again = list(fall[-1] - 0.001 * np.arange(60) + np.tile([0.0, 0.003], 30))
    found = verdicts(fall + flat + again, drops=3, raises=2)
    assert "lower" in found
    assert "raise" not in found
