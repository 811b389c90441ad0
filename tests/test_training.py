"""The training loop: same bits on any number of threads, a best epoch that is kept, a way back from every accident."""

import copy
import pickle
import signal
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

import mvrbm
from mvrbm import Continuous
from mvrbm.answers import Answers
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.links import Links
from mvrbm.rbm import RBM
from mvrbm.summary import summarise
from mvrbm.training import DivergenceError, History, Settings, engine, stopping, train, trainer
from mvrbm.training.objectives import CD, PCD, Batch, Job, Masked, Objective
from mvrbm.training.optimiser import largest
from mvrbm.training.stopping import hide
from mvrbm.units import KINDS
from mvrbm.visible import Visible
from oracle import CASES, machine, questions_of, random_answers


def start(answers, questions, n_hidden=8, seed=0):
    return RBM.start(Visible(questions, summarise(answers, questions)), n_hidden, seed)


@pytest.fixture(scope="module")
def survey():
    frame, schema = make_survey(900, random_state=3)
    return encode(frame, schema), list(schema)


class Still(Objective):
    """An objective that is as high everywhere."""

    def jobs(self, rbm, batch):
        return [Job(lambda rbm, piece, vector: vector.fill(0), rbm, batch)]


def test_every_kind_of_question_is_in_a_case():
    """A type that is added must be added to the cases of the oracle, and so to every test that runs over them."""
    covered = {type(q) for case in CASES for q in questions_of(case)}
    assert covered == set(KINDS)


@pytest.mark.parametrize(
    "settings",
    [
        {"objective": "cd"},
        {"objective": "cd", "gibbs_steps": 2, "missing": "hidden", "optimiser": "sgd", "momentum": 0.5},
        {"objective": "pcd", "n_chains": 100},
    ],
)
def test_the_number_of_threads_changes_no_bit(survey, settings):
    answers, questions = survey
    weights = np.random.default_rng(0).random(answers.n_rows) + 0.5
    found = {}
    for n_threads in (1, 2, 4):
        rbm = start(answers, questions, n_hidden=1200)
        assert rbm.parameters.vector.size > 2 * 65536  # large enough for the optimiser's work to be shared
        history = train(
            rbm,
            answers,
            Settings(**settings, max_epochs=2, batch_size=300, learning_rate=0.005, n_threads=n_threads, seed=7),
            weights,
        )
        found[n_threads] = (rbm.parameters.vector.copy(), history)
    for n_threads in (2, 4):
        np.testing.assert_array_equal(found[1][0], found[n_threads][0])
        assert found[1][1] == found[n_threads][1]


def test_another_seed_gives_another_model(survey):
    answers, questions = survey
    vectors = []
    for seed in (0, 1):
        rbm = start(answers, questions, seed=5)
        train(rbm, answers, Settings(max_epochs=1, early_stopping=False, seed=seed))
        vectors.append(rbm.parameters.vector.copy())
    assert (vectors[0] != vectors[1]).mean() > 0.9


def test_hidden_answers_are_whole_questions_and_gone_from_the_training_table(survey):
    answers, questions = survey
    visible = Visible(questions, summarise(answers, questions))
    split = hide(answers, visible, 0.25, seed=1, most_rows=600)
    assert len(split.rows) == 600
    untouched = np.setdiff1d(np.arange(answers.n_rows), split.rows)
    np.testing.assert_array_equal(split.kept.loaded().codes[untouched], answers.codes[untouched])
    every = np.arange(600)
    full, kept, hidden = (visible.load(a, every) for a in (answers.take(split.rows), split.given, split.hidden))
    assert not ((kept.codes >= 0) & (hidden.codes >= 0)).any()
    np.testing.assert_array_equal(np.maximum(kept.codes, hidden.codes), full.codes)
    a, b, c = (visible.answered(chunk) for chunk in (full, kept, hidden))
    assert not (b & c).any()
    assert ((b | c) == a).all()
    assert abs(c.sum() / a.sum() - 0.25) < 0.01
    assert (abs(c.sum(axis=0) - 0.25 * a.sum(axis=0)) < 1).all()


@pytest.mark.parametrize(("refit_epochs", "rates"), [(0, 3), (4, 2)])
def test_the_best_epoch_is_kept(survey, refit_epochs, rates):
    answers, questions = survey
    rbm = start(answers, questions, n_hidden=40)
    settings = Settings(max_epochs=60, patience=3, learning_rate=0.03, batch_size=50, refit_epochs=refit_epochs)
    history = train(rbm, answers, settings)
    losses = [epoch["loss"] for epoch in history.epochs]
    assert history.stopped == "early_stopping"
    assert np.argmin(losses) < len(losses) - 1
    assert history.best_epoch == np.argmin(losses) + 1
    # lowered twice before it stopped, and once where a refit goes on with it
    assert len({epoch["learning_rate"] for epoch in history.epochs}) == rates
    split = hide(answers, rbm.visible, 0.1, 0, 4000)
    with engine.Workers(1) as workers:
        assert split.loss(rbm, workers) == pytest.approx(min(losses), rel=1e-6)
        assert min(losses) < split.loss(start(answers, questions, n_hidden=0), workers) - 0.02


@pytest.mark.parametrize(
    ("settings", "raised"),
    [({}, {2, 4}), ({"learning_rate": 0.02}, set()), ({"schedule": "linear"}, set()), ({"objective": "cd"}, set())],
)
def test_the_rate_is_raised_where_the_loss_falls_for_long_and_no_rate_is_given(survey, monkeypatch, settings, raised):
    monkeypatch.setattr(trainer, "_LONG", 8)
    monkeypatch.setattr(trainer, "_LONG_STEPS", 1)
    monkeypatch.setattr(stopping, "_WORTH", -1.0)  # any loss counts as one that falls
    answers, questions = survey
    history = train(start(answers, questions), answers, Settings(max_epochs=40, batch_size=8, patience=1, **settings))
    times = [epoch["learning_rate"] / history.epochs[0]["learning_rate"] for epoch in history.epochs]
    assert {time for time in times if time > 1} == raised


def test_a_number_that_never_varies_is_not_what_training_goes_on_for(survey):
    """Its density could rise for long, as sigma falls, and the loss would hear of nothing else."""
    answers, questions = survey
    constant = Answers(answers.codes, np.concatenate([answers.numbers, np.full((900, 1), 30, np.float32)], axis=1))
    epochs = []
    for table, asked in ((answers, questions), (constant, [*questions, Continuous("k")])):
        history = train(start(table, asked), table, Settings(refit_epochs=0))
        epochs.append(history.best_epoch)
        assert history.stopped == "early_stopping"
    assert abs(epochs[1] - epochs[0]) <= 10


def test_a_refit_lowers_the_rate_of_the_last_epoch_to_0_and_hides_less(survey, monkeypatch):
    answers, questions = survey
    rbm, rates, told = start(answers, questions), [], []
    history = train(rbm, answers, Settings(max_epochs=3))
    epoch = trainer._Run._epoch
    monkeypatch.setattr(trainer._Run, "_epoch", lambda run, n, rate: rates.append(rate) or epoch(run, n, rate))
    monkeypatch.setattr(Masked, "begin", lambda _, rate: told.append(rate))
    before = rbm.parameters.vector.copy()
    trainer.refit(rbm, answers, Settings(max_epochs=3, refit_epochs=4), None, history)
    assert told == [1, 0.75, 0.5, 0.25]
    assert rates == pytest.approx(history.epochs[-1]["learning_rate"] * np.array([1, 0.75, 0.5, 0.25]))
    assert (rbm.parameters.vector != before).any()


def test_where_nothing_was_learnt_nothing_is_refitted(survey):
    answers, questions = survey
    rbm = start(answers, questions)
    before = rbm.parameters.vector.copy()
    trainer.refit(rbm, answers, Settings(), None, History(epochs=[{"learning_rate": 0.02, "loss": 2.0}], best_epoch=0))
    np.testing.assert_array_equal(rbm.parameters.vector, before)


@pytest.mark.parametrize(
    ("rates", "best", "epochs", "rate"),
    [
        ([0.02] * 9, 5, 5, 0.02),
        ([0.02] * 6 + [0.006] * 8, 12, 8, 0.02),  # six at 0.02 and six at 0.006
        ([0.02] * 6 + [0.04] * 8 + [0.012] * 5, 19, 12, 0.04),  # half of six, eight, and five at 0.012
        ([0.02] * 6 + [0.04] * 8, 4, 4, 0.02),  # what came after the best epoch is not in it
    ],
)
def test_a_machine_beside_the_first_goes_as_far_and_has_the_epochs_of_its_refit(rates, best, epochs, rate):
    history = History(epochs=[{"learning_rate": each} for each in rates], best_epoch=best)
    own = trainer.beside_one(Settings(seed=3, patience=7), history, n_rows=1000)
    assert own.max_epochs == epochs + Settings().epochs_again(1000)
    assert [own.rate(epoch, n_hidden=200) for epoch in (0, own.max_epochs)] == [rate, 0.0]
    assert (own.early_stopping, own.refit_epochs, own.adapts) == (False, 0, False)
    assert (own.seed, own.patience) == (3, 7)


@pytest.mark.parametrize(
    ("n_questions", "n_rows", "epochs", "given", "machines"),
    [
        (2, 3200, 30, None, 1),
        (19, 3200, 30, None, 1),
        (20, 3200, 30, None, 2),
        (39, 3200, 30, None, 2),
        (40, 3200, 30, None, 3),
        (500, 3200, 74, None, 3),
        (500, 3200, 75, None, 2),
        (500, 3200, 149, None, 2),
        (500, 3200, 150, None, 1),
        (500, 25_600, 150, None, 1),
        (500, 51_200, 75, None, 1),
        (500, 64, 200, None, 3),  # an epoch is one step
        (30, 3200, 250, None, 1),
        (500, 3200, 0, None, 3),
        (500, 3200, 30, 1, 1),
        (2, 3200, 500, 5, 5),
    ],
)
def test_machines_by_the_number_of_questions_and_by_how_long_the_first_learnt(
    n_questions, n_rows, epochs, given, machines
):
    assert Settings(n_models=given).machines(n_questions, n_rows, epochs) == machines


def test_where_nothing_tells_when_to_stop_the_epochs_cost_no_machine():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (200, 40)), columns=[f"q{i}" for i in range(40)])
    schema = mvrbm.Schema([mvrbm.Binary(name, values=[0, 1]) for name in frame])
    settings = {"n_hidden": 2, "batch_size": 4, "max_epochs": 80, "random_state": 0}
    assert Settings(batch_size=4).machines(40, 200, 80) == 2
    model = mvrbm.MVRBM(schema=schema, early_stopping=False, **settings).fit(frame)
    assert len(model.rbm_.others) == 2


@pytest.mark.parametrize(
    ("n_rows", "epochs"), [(100, 50), (3_200, 50), (25_600, 50), (40_000, 31), (51_200, 25), (1_000_000, 25)]
)
def test_a_refit_has_50_epochs_but_no_more_than_some_steps_unless_these_are_few_epochs(n_rows, epochs):
    assert Settings().epochs_again(n_rows) == epochs
    assert Settings(refit_epochs=7).epochs_again(n_rows) == 7


def continuous_problem(n_rows=400):
    rng = np.random.default_rng(0)
    questions = [mvrbm.Continuous(f"n{i}") for i in range(6)]
    numbers = rng.standard_t(2, (n_rows, 6)) + 3 * rng.standard_normal((n_rows, 1))
    answers = random_answers(questions, n_rows, 0)
    answers.numbers[:] = numbers
    return answers, questions


@pytest.mark.parametrize("early_stopping", [True, False])
def test_a_run_that_diverges_is_taken_back_and_slowed_down(early_stopping):
    answers, questions = continuous_problem()
    rbm = start(answers, questions, n_hidden=20)
    settings = Settings(optimiser="sgd", learning_rate=20.0, max_epochs=4, early_stopping=early_stopping, patience=9)
    history = train(rbm, answers, settings)
    assert history.undone > 0
    assert len(history.epochs) == 4
    assert history.epochs[-1]["learning_rate"] < 20
    assert largest(rbm.parameters.vector) < 1e4


def test_a_run_that_cannot_be_saved_says_so_and_leaves_finite_parameters():
    answers, questions = continuous_problem()
    rbm = start(answers, questions, n_hidden=20)
    before = rbm.parameters.vector.copy()
    with pytest.raises(DivergenceError, match="learning_rate"):
        train(rbm, answers, Settings(optimiser="sgd", learning_rate=1e9, max_epochs=4))
    np.testing.assert_array_equal(rbm.parameters.vector, before)


def test_an_error_in_the_middle_leaves_the_last_whole_epoch(survey):
    answers, questions = survey
    rbm = start(answers, questions)
    kept = []

    def progress(epoch, entry):
        kept.append(rbm.parameters.vector.copy())
        if epoch == 1:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk"):
        train(rbm, answers, Settings(max_epochs=5, early_stopping=False), progress=progress)
    np.testing.assert_array_equal(rbm.parameters.vector, kept[1])


@pytest.mark.parametrize("delay", [0.05, 0.11, 0.17])
def test_ctrl_c_leaves_the_model_of_the_last_whole_epoch(survey, delay):
    """The interrupt comes from outside, wherever training is at that moment."""
    answers, questions = survey
    rbm = start(answers, questions, n_hidden=30)
    train(start(answers, questions, n_hidden=30), answers, Settings(max_epochs=1, early_stopping=False))  # compile
    vectors = [rbm.parameters.vector.copy()]

    def progress(epoch, entry):
        vectors.append(rbm.parameters.vector.copy())

    def interrupt(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        with pytest.warns(UserWarning, match="interrupted in epoch .*: the model is "):
            history = train(rbm, answers, Settings(max_epochs=10**6, early_stopping=False), progress=progress)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert history.stopped == "interrupted"
    assert history.best_epoch == len(history.epochs)
    np.testing.assert_array_equal(rbm.parameters.vector, vectors[len(history.epochs)])


def test_l2_shrinks_the_weights_and_leaves_the_biases(survey):
    answers, questions = survey
    sizes = []
    for l2 in (0.0, 0.5):
        rbm = start(answers, questions)
        plain = {"early_stopping": False, "optimiser": "sgd", "objective": "cd"}
        train(rbm, answers, Settings(max_epochs=20, l2=l2, learning_rate=0.2, **plain))
        sizes.append((np.square(rbm.parameters.W).mean(), np.square(rbm.parameters.U).mean()))
    assert sizes[1][0] < 0.1 * sizes[0][0]
    assert sizes[1][1] > 0.5 * sizes[0][1]


@pytest.mark.parametrize("case", CASES)
def test_without_hidden_units_the_model_has_the_datas_marginals(case):
    """The mean of x over the answers there are equals its mean in the machine of those answers, blanks left out."""
    rbm = machine(case)
    questions = rbm.visible.questions
    answers = random_answers(questions, 2000, 9, missing=0.3)
    visible = Visible(questions, summarise(answers, questions), paper=case == "paper")
    baseline = RBM.start(visible, 0, 0, dtype=np.float64)
    chunk = visible.load(answers, np.arange(2000), np.float64)
    z = np.repeat(baseline.parameters.U[:, None], 2000, axis=1)
    x, t = visible.mean(z, baseline.theta, chunk)
    np.testing.assert_allclose(x.mean(axis=1), visible.features(chunk).mean(axis=1), atol=2e-3)
    learnt = visible.natural_slope(baseline.parameters.base) != 0
    expected = visible.base_statistics(chunk, visible.features(chunk)).mean(axis=1)
    np.testing.assert_allclose(t.mean(axis=1)[learnt], expected[learnt], atol=2e-3)


def test_weights_in_the_marginals_count_rows(survey):
    answers, questions = survey
    times = np.random.default_rng(1).integers(0, 3, answers.n_rows)
    weighted = summarise(answers, questions, times.astype(float))
    repeated = summarise(answers.take(np.repeat(np.arange(answers.n_rows), times)), questions)
    np.testing.assert_allclose(weighted.counts * times.mean(), repeated.counts)
    np.testing.assert_allclose(weighted.moments[:, 1:], repeated.moments[:, 1:], rtol=1e-9)


def test_only_the_proportions_of_weights_matter(survey):
    answers, questions = survey
    weights = np.random.default_rng(1).random(answers.n_rows) + 0.1
    vectors = []
    for unit in (1.0, 2.0**-20):  # a power of two, so that not even the rounding differs
        rbm = RBM.start(Visible(questions, summarise(answers, questions, unit * weights)), 8, 0)
        train(rbm, answers, Settings(max_epochs=2, early_stopping=False), unit * weights)
        vectors.append(rbm.parameters.vector)
    np.testing.assert_array_equal(*vectors)


def test_a_heavy_row_moves_the_machine_further_than_a_light_one(survey):
    """Also where each row is a batch of its own."""
    answers, questions = survey
    few, vectors = answers.take(slice(0, 40)), []
    for weights in (None, np.linspace(0.1, 1.9, 40)):
        rbm = start(few, questions)
        train(rbm, few, Settings(max_epochs=1, batch_size=1, optimiser="sgd", early_stopping=False), weights)
        vectors.append(rbm.parameters.vector)
    assert (vectors[0] != vectors[1]).mean() > 0.5


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("objective", "pcd"),
        ("gibbs_steps", 2),
        ("missing", "hidden"),
        ("optimiser", "sgd"),
        ("learning_rate", 0.03),
        ("schedule", "linear"),
        ("schedule", "cosine"),
        ("l2", 0.1),
        ("decay", 1.0),
        ("objective", "cd"),
        ("batch_size", 100),
        ("seed", 1),
        ("early_stopping", True),
    ],
)
def test_every_setting_makes_a_difference(survey, setting, value):
    answers, questions = survey
    vectors = []
    chains = {"objective": "cd"} if setting in ("gibbs_steps", "missing") else {}
    for more in ({}, {setting: value}):
        rbm = start(answers, questions, n_hidden=8)
        train(rbm, answers, Settings(**{"max_epochs": 3, "early_stopping": False, **chains, **more}))
        vectors.append(rbm.parameters.vector)
    assert (vectors[0] != vectors[1]).mean() > 0.9


def test_questions_of_many_options_are_heard_when_to_stop():
    """The log-probability of an answer to two hundred options is below -100, and it is no mistake."""
    rng = np.random.default_rng(0)
    chosen = rng.random((250, 200)) < np.where(rng.random((250, 1)) < 0.5, 0.3, 0.7)
    frame = pd.DataFrame(
        {f"{q}{i}": (chosen[:, i] ^ (rng.random(250) < 0.1)).astype(int) for q in "ab" for i in range(200)}
    )
    asked = [mvrbm.Multicategorical(q, columns={str(i): f"{q}{i}" for i in range(200)}) for q in "ab"]
    history = mvrbm.MVRBM(5, schema=mvrbm.Schema(asked), n_models=1, max_epochs=10, random_state=0).fit(frame).history_
    assert history.start_loss > 120
    assert history.best_epoch > 0
    assert min(epoch["loss"] for epoch in history.epochs) < history.start_loss - 5


def test_decay_takes_small_weights_and_leaves_large_ones(survey):
    """Without a gradient a weight w loses rate * decay * w / (1 + (w / 0.2)^2), around the middle of the data.

    So do links; what an average answer says and what an average row is to the hidden units stays as it is.
    """
    answers, questions = survey
    visible = Visible(questions, summarise(answers, questions))
    ends = np.array([0, 1]), np.array([visible.n_features - 1, visible.n_features + 1])  # an answer, and one answered
    rbm = RBM.start(visible, 2, 0, answered=True, links=Links(*ends, visible.feature_question))
    p, n = rbm.parameters, visible.n_features
    X = rbm.features(visible.load(answers, np.arange(answers.n_rows))).astype(float)
    told = X[n:-1].sum(axis=1)
    own = X[:n].sum(axis=1) / told[visible.feature_question]
    p.W[:], p.U[:], p.w[:], p.links[:] = 0.01, 0.01, 0.01, 0.2
    average = np.add.reduceat(0.01 * own, visible.feature_start)[:, None]
    p.R[:] = 2.0 - average
    middle = 0.7 * told / answers.n_rows
    before = (p.w + middle @ (p.R + average)).copy()
    one_step = {"max_epochs": 1, "batch_size": answers.n_rows, "learning_rate": 0.1, "early_stopping": False}
    train(rbm, answers, Settings(decay=0.5, **one_step), objective=Still(0))
    left = 1 - 0.05 / (1 + 0.05**2)
    np.testing.assert_allclose(p.W, 0.01 * left, rtol=1e-6)
    np.testing.assert_allclose(p.R + left * average, 2.0 * (1 - 0.05 / (1 + 10**2)), rtol=1e-5)
    np.testing.assert_allclose(p.links, 0.2 * (1 - 0.05 / 2), rtol=1e-6)
    np.testing.assert_allclose(p.w + middle @ (p.R + left * average), before, rtol=1e-5)
    hidden = 1 / (1 + np.exp(-before[0]))
    np.testing.assert_allclose(p.U[2:] + 2 * 0.01 * left * hidden, 0.01 + 2 * 0.01 * hidden, rtol=1e-4)
    np.testing.assert_allclose(p.U[1] + 3 * p.links[1] * middle[1] - p.U[2], 3 * 0.2 * middle[1], rtol=1e-4)


@pytest.mark.parametrize(("setting", "value"), [("momentum", 0.5), ("n_chains", 64)])
def test_settings_of_one_optimiser_and_one_objective(survey, setting, value):
    answers, questions = survey
    vectors = []
    for more in ({}, {setting: value}):
        rbm = start(answers, questions, n_hidden=8)
        train(rbm, answers, Settings(objective="pcd", optimiser="sgd", max_epochs=2, early_stopping=False, **more))
        vectors.append(rbm.parameters.vector)
    assert (vectors[0] != vectors[1]).mean() > 0.9


def test_epochs_differ_in_order_and_steps_in_draws(survey):
    answers, questions = survey
    rbm = start(answers, questions)
    rows = np.arange(100)
    found = []
    for step in (0, 1):
        (job,) = CD(3).jobs(rbm, Batch(answers, rows, np.full(100, 0.01), step))[:1]
        found.append(job(np.empty_like(rbm.parameters.vector)))
    assert (found[0] != found[1]).any()
    first, second = (np.concatenate(list(engine.batches(3, epoch, 500, 50))) for epoch in (0, 1))
    assert (first != second).any()


def test_where_nothing_can_be_hidden_training_goes_on_to_the_end():
    questions = questions_of("binary")[:1]
    answers = random_answers(questions, 3, 0)
    rbm = start(answers, questions, n_hidden=2)
    history = train(rbm, answers, Settings(max_epochs=5, hidden_share=0.01))
    assert len(history.epochs) == 5
    assert "loss" not in history.epochs[0]


def test_two_runs_at_once_leave_the_process_as_it_was(survey):
    answers, questions = survey
    interval, blas = sys.getswitchinterval(), [p["num_threads"] for p in threadpool_info()]
    alone = start(answers, questions)
    train(alone, answers, Settings(max_epochs=3))
    machines = [start(answers, questions) for _ in range(3)]
    threads = [threading.Thread(target=train, args=(m, answers, Settings(max_epochs=3))) for m in machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in machines:
        np.testing.assert_array_equal(other.parameters.vector, alone.parameters.vector)
    assert sys.getswitchinterval() == interval
    assert [p["num_threads"] for p in threadpool_info()] == blas


def test_a_copy_can_be_trained(survey):
    answers, questions = survey
    rbm = start(answers, questions)
    for twin in (copy.deepcopy(rbm), pickle.loads(pickle.dumps(rbm))):
        train(twin, answers, Settings(max_epochs=1, early_stopping=False))
        assert np.shares_memory(twin.parameters.vector, twin.parameters.W)
    train(rbm, answers, Settings(max_epochs=1, early_stopping=False))
    np.testing.assert_array_equal(twin.parameters.vector, rbm.parameters.vector)


def test_a_persistent_job_run_again_gives_the_same(survey):
    answers, questions = survey
    rbm = start(answers, questions)
    objective = PCD(0, 1, 20)
    jobs = objective.jobs(rbm, Batch(answers, np.arange(9), np.full(9, 1 / 9), 0))
    first, again = ([job(np.empty_like(rbm.parameters.vector)) for job in jobs] for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_what_has_no_weight_has_no_say(survey, early_stopping):
    """Not a bit of the model depends on what people of weight 0 answered."""
    answers, questions = survey
    weights = np.random.default_rng(2).integers(0, 2, answers.n_rows) * 1.5
    visible = Visible(questions, summarise(answers, questions, weights))
    found = []
    for changed in (False, True):
        table = answers.take(slice(None))
        table = type(answers)(table.codes.copy(), table.numbers.copy())
        if changed:
            codes = table.codes[weights == 0]
            table.codes[weights == 0] = np.where(codes == table.blank, codes, 0)
            table.numbers[weights == 0] += 1000
        rbm = RBM.start(visible, 8, 0)
        history = train(rbm, table, Settings(max_epochs=3, early_stopping=early_stopping), weights)
        found.append((rbm.parameters.vector, history))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


def test_a_batch_without_weight_is_passed_over(survey):
    answers, questions = survey
    rbm = start(answers, questions)
    weights = np.zeros(answers.n_rows)
    weights[5] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(rbm, answers, Settings(max_epochs=2, batch_size=100), weights)
    assert np.isfinite(rbm.parameters.vector).all()
