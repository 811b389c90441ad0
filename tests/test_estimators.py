"""MVRBM through its public contract, on pandas tables."""

import os
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mvrbm
from mvrbm import MVRBM, Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking, Schema
from mvrbm.datasets import make_survey
from mvrbm.estimators import base
from mvrbm.training import trainer


@pytest.fixture(scope="module")
def table():
    return make_survey(300, random_state=1)


def small(**settings):
    return MVRBM(**{"n_hidden": 6, "max_epochs": 3, "random_state": 0, **settings})


def test_a_table_of_all_six_types_by_hand():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "satisfied": rng.choice(["no", "yes"], n),
            "country": rng.choice(["Peru", "Ghana", "Fiji"], n),
            "ladder": rng.integers(0, 11, n).astype(float),
            "age": rng.integers(18, 90, n).astype(float),
            "q5_1": rng.integers(0, 2, n),
            "q5_2": rng.integers(0, 2, n),
            "hobbies": rng.choice(["chess;judo", "judo", "", "chess"], n),
            "rank_1": rng.integers(1, 3, n),
            "rank_2": rng.integers(1, 3, n),
            "first": rng.choice(["war", "flood", "debt"], n),
            "aims": rng.choice(["a>b=c", "c>a", "b=a>c"], n),
            "w": rng.random(n),
            "note": "free text that no question names",
        }
    )
    frame.loc[::7, "ladder"] = np.nan
    frame.loc[::11, "country"] = None
    frame.loc[5] = frame.loc[5].where(frame.columns == "w")  # one person answers nothing
    schema = Schema(
        [
            Binary("satisfied", values=["no", "yes"]),
            Categorical("country"),
            Ordinal("ladder", values=list(range(11))),
            Continuous("age", low=0, high=120, integer=True),
            Multicategorical("problems", columns={"Work": "q5_1", "Crime": "q5_2"}),
            Multicategorical("hobbies", column="hobbies", separator=";", values=["chess", "judo"]),
            Ranking("films", ranks={"I": "rank_1", "II": "rank_2"}),
            Ranking("dangers", choices=["first"], values=["war", "flood", "debt"]),
            Ranking("aims", column="aims", separator=">", values=["a", "b", "c"]),
        ],
        weight="w",
    )
    for recipe in ("default", "paper"):
        model = small(schema=schema, recipe=recipe).fit(frame)
        vectors = model.transform(frame)
        assert vectors.shape == (n, 6)
        assert vectors.dtype == np.float32
        assert ((vectors > 0) & (vectors < 1)).all()
        assert model.schema_["country"].values == ["Fiji", "Ghana", "Peru"]
        w = model.rbm_.parameters.w
        np.testing.assert_allclose(vectors[5], 1 / (1 + np.exp(-w)), rtol=1e-4)  # nothing answered: the biases alone
    assert schema["country"].values is None  # the person's own schema is left as it was


def test_the_same_seed_gives_the_same_model_and_another_gives_another(table):
    frame, schema = table
    a, b, c = (small(schema=schema, random_state=seed).fit(frame).transform(frame) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


def test_transform_takes_one_row_new_rows_and_any_order_of_columns(table):
    frame, schema = table
    model = small(schema=schema).fit(frame)
    whole = model.transform(frame)
    np.testing.assert_allclose(model.transform(frame.iloc[[7]]), whole[[7]], rtol=1e-5)
    np.testing.assert_array_equal(model.transform(frame[frame.columns[::-1]]), whole)


def test_weights_come_from_the_schema_or_from_the_call(table):
    frame, schema = table
    weights = np.random.default_rng(0).integers(1, 4, len(frame)).astype(float)
    named = Schema(list(schema), weight="w")
    by_column = small(schema=named).fit(frame.assign(w=weights)).transform(frame.assign(w=weights))
    by_call = small(schema=schema).fit(frame, sample_weight=weights).transform(frame)
    np.testing.assert_array_equal(by_column, by_call)
    assert (by_call != small(schema=schema).fit(frame).transform(frame)).any()


def test_the_baseline_knows_the_marginals_and_has_no_vector(table):
    frame, schema = table
    model = MVRBM(0, schema=schema).fit(frame)
    assert model.transform(frame).shape == (300, 0)
    assert model.history_.epochs == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"recipe": "soup"}, "recipe must be one of 'default', 'paper', not 'soup'"),
        ({"n_hidden": -1}, "n_hidden must be a whole number, 0 or more, or 'auto', not -1"),
        ({"n_hidden": 2.5}, "n_hidden must be a whole number"),
        ({"objective": "cd", "links": 3}, 'links goes with objective="masked" alone'),
        ({"answered": "yes"}, "answered must be True or False, not 'yes'"),
        ({"objective": "magic"}, "objective must be one of 'masked', 'cd', 'pcd', not 'magic'"),
        ({"gibbs_steps": 0}, "gibbs_steps must be a whole number, 1 or more, not 0"),
        ({"learning_rate": -0.1}, "learning_rate must be a finite number, 0 or more, not -0.1"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number, 0 or more"),
        ({"hidden_share": 1.0}, "hidden_share must lie above 0 and below 1, not 1.0"),
        ({"n_hidden": 5.0}, "n_hidden must be a whole number"),
        ({"n_hidden": "many"}, "n_hidden must be a whole number, 0 or more, or 'auto', not 'many'"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"learning_rate": float("inf")}, "learning_rate must be a finite number"),
        ({"momentum": 1.5}, "momentum must lie below 1, not 1.5"),
        ({"early_stopping": "no"}, "early_stopping must be True or False, not 'no'"),
        ({"unseen": "guess"}, 'unseen must be "error" or "missing"'),
    ],
)
def test_settings_that_make_no_sense(table, settings, words):
    frame, schema = table
    with pytest.raises(ValueError, match=words.replace("[", "\\[")):
        small(**{"schema": schema, **settings}).fit(frame)


@pytest.mark.parametrize("weights", [[1.0], [-1.0] * 300, [np.nan] * 300])
def test_weights_that_make_no_sense(table, weights):
    frame, schema = table
    with pytest.raises(ValueError, match="sample_weight must be 300 finite numbers"):
        small(schema=schema).fit(frame, sample_weight=weights)


def test_values_that_were_never_seen(table):
    frame, schema = table
    model = small(schema=schema).fit(frame)
    other = frame.copy()
    other.loc[3, "binary_1"] = "perhaps"
    with pytest.raises(ValueError, match=r"question 'binary_1': value 'perhaps' \(row 3\)"):
        model.transform(other)
    model.set_params(unseen="missing")
    blank = frame.copy()
    blank.loc[3, "binary_1"] = None
    with pytest.warns(UserWarning, match="1 cell not allowed and taken as blank, the first is 'perhaps'"):
        vectors = model.transform(other)
    np.testing.assert_array_equal(vectors, model.transform(blank))


def test_a_fit_that_fails_leaves_the_model_as_it_was(table):
    frame, schema = table
    model = small(schema=schema).fit(frame)
    before = model.transform(frame)
    other, other_schema = make_survey(100, binary=9, random_state=5)
    with pytest.raises(ValueError, match="sample_weight"):
        model.set_params(schema=other_schema).fit(other, sample_weight=[-1.0] * 100)
    np.testing.assert_array_equal(model.transform(frame), before)


def test_a_constant_column_of_an_array_is_set_aside():
    rng = np.random.default_rng(1)
    array = np.stack([np.full(50, 37.7), rng.standard_normal(50), np.full(50, np.nan)], axis=1)
    model = small().fit(array, sample_weight=rng.random(50))
    assert model.schema_.names == ["1"]
    assert model.schema_.ignore == ["0", "2"]
    array[:, 0] = 38.0
    assert model.transform(array).shape == (50, 6)


def test_transform_before_fit(table):
    with pytest.raises(NotFittedError):
        small(schema=table[1]).transform(table[0])


def test_it_is_a_scikit_learn_transformer(table):
    frame, schema = table
    model = small(schema=schema)
    assert clone(model).get_params() == model.get_params()
    scaled = make_pipeline(model, StandardScaler()).fit_transform(frame)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-4)


@parametrize_with_checks(
    [MVRBM(n_hidden=4, max_epochs=3), MVRBM(n_hidden=4, max_epochs=3, recipe="paper"), MVRBM(n_hidden=0)],
    expected_failed_checks=lambda model: (
        # fitting draws at random by row; weights are tested on likelihoods, gradients and training instead
        {"check_sample_weight_equivalence_on_dense_data": "fitting is stochastic"} if model.n_hidden else {}
    ),
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_an_array_is_a_table_of_numbers():
    rng = np.random.default_rng(0)
    array = rng.standard_normal((80, 3))
    array[::5, 1] = np.nan
    model = small().fit(array)
    by_name = small(schema=Schema([Continuous(n) for n in "abc"])).fit(pd.DataFrame(array, columns=list("abc")))
    np.testing.assert_array_equal(model.transform(array), by_name.transform(pd.DataFrame(array, columns=list("abc"))))
    with pytest.raises(ValueError, match="X has 2 features, but MVRBM is expecting 3 features as input"):
        model.transform(array[:, :2])


@pytest.mark.parametrize("cells", [np.random.default_rng(0).integers(0, 2, (60, 3)), np.eye(60, 3, dtype=bool)])
def test_an_array_of_noughts_and_ones_is_binary(cells):
    model = small().fit(cells)
    assert {question.kind for question in model.schema_} == {"binary"}
    assert model.transform(cells).shape == (60, 6)


def test_without_a_schema_the_questions_are_guessed(table, library):
    frame = library.frame(table[0].to_dict("list"))
    model = small().fit(frame)
    assert {question.kind for question in model.schema_} >= {"binary", "ordinal", "continuous", "multicategorical"}
    assert model.schema_.reasons
    with pytest.warns(UserWarning, match="the table lacks 'binary_1': taken as unanswered"):
        vectors = model.transform(table[0].drop(columns="binary_1").assign(more="x"))
    assert vectors.shape == (300, 6)


def test_the_dataframe_library_changes_no_bit(table, library):
    frame, schema = table
    other = library.frame(frame.to_dict("list"))
    vectors = small(schema=schema).fit(frame).transform(frame)
    np.testing.assert_array_equal(small(schema=schema).fit(other).transform(other), vectors)


@pytest.mark.parametrize(
    ("schema", "convert", "words"),
    [
        ([Binary("binary_1")], None, r"schema must be a Schema\(\[...\]\), not list"),
        (None, lambda frame: frame.to_dict("list"), "dict is no table that can be read; give a table of pandas"),
    ],
)
def test_what_is_no_schema_and_what_is_no_frame(table, schema, convert, words):
    frame, its_schema = table
    with pytest.raises(TypeError, match=words):
        small(schema=schema or its_schema).fit(convert(frame) if convert else frame)


def test_an_array_with_a_schema_needs_its_names(table):
    with pytest.raises(ValueError, match="question 'binary_1': the table has no column 'binary_1'; it has '0', '1'"):
        small(schema=table[1]).fit(table[0].to_numpy())


def test_vectors_as_a_frame(table):
    frame, schema = table
    vectors = small(schema=schema).set_output(transform="pandas").fit(frame).transform(frame)
    assert list(vectors.columns) == [f"mvrbm{k}" for k in range(6)]
    assert vectors.index.equals(frame.index)


def test_verbose_says_how_it_goes(table, capsys):
    frame, schema = table
    small(schema=schema, verbose=1).fit(frame)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("epoch 1: learning rate 0.02, loss ")


_START = """
from mvrbm import MVRBM
from mvrbm.datasets import make_survey
frame, schema = make_survey(500, random_state=0)
MVRBM(20, schema=schema, max_epochs=1, n_models=1, refit_epochs=0, random_state=0).fit(frame)
"""


def seconds_of(code, environment):
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - begun


@pytest.mark.slow
def test_a_second_process_starts_training_at_once(tmp_path):
    """Compiled kernels are kept on disk: a process that imports, makes a table and trains an epoch takes less than a
    second more than one that imports scikit-learn alone, run by turns. `make bench` prints the whole time.

    Python's own compiled files are kept too, as in any installation, even where the environment forbids it.
    """
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPYCACHEPREFIX": str(tmp_path / "python")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    first = seconds_of(_START, environment)
    more = [seconds_of(_START, environment) - seconds_of("import sklearn.base", environment) for _ in range(5)]
    assert min(more) < 1.0, more
    assert first > 2 * min(more) + 1, first  # it did compile


@pytest.mark.parametrize(
    ("n_people", "n_questions", "size"), [(200, 50, 50), (4_000, 50, 80), (12_000, 50, 200), (12_000, 14, 70)]
)
def test_hidden_units_by_the_numbers_of_people_and_questions(n_people, n_questions, size, tmp_path):
    said = {f"said {i}": ["yes", "no"] * (n_people // 2) for i in range(1, n_questions)}
    frame = pd.DataFrame({**said, "number": np.arange(n_people) % 7.0})
    model = MVRBM(max_epochs=1, n_models=1, refit_epochs=0, random_state=0).fit(frame)
    assert model.transform(frame.head()).shape == (5, size)
    model.save(tmp_path / "m.mvrbm")
    loaded = mvrbm.load(tmp_path / "m.mvrbm")
    assert loaded.n_hidden == model.n_hidden == "auto"
    np.testing.assert_array_equal(loaded.transform(frame.head()), model.transform(frame.head()))


@pytest.mark.parametrize(("n_questions", "machines"), [(19, 1), (20, 2), (40, 3)])
def test_a_model_has_machines_by_the_number_of_questions(n_questions, machines):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((80, n_questions)).round(2))
    frame.columns = [f"number {i}" for i in range(n_questions)]
    model = MVRBM(2, max_epochs=1, refit_epochs=0, random_state=0).fit(frame)
    assert len(model.schema_.names) == n_questions
    assert 1 + len(model.rbm_.others) == machines
    assert "free_energy_gap" in model.history_.epochs[0]


def test_a_fit_that_fails_leaves_the_names_of_the_one_before():
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=list("abc"))
    model = MVRBM(3, max_epochs=2, random_state=0).fit(frame)
    vectors = model.transform(frame)
    with pytest.raises(ValueError, match="row"):
        model.fit(frame.assign(d=1.0).iloc[:0])
    np.testing.assert_array_equal(model.transform(frame), vectors)


@pytest.fixture
def runs(monkeypatch):
    """Each run that a fit took: its settings, the answers that stopped it, its history and its machine."""
    seen, train = [], base.train

    def told(rbm, answers, settings, weights=None, progress=None, hidden=None, **more):
        history = train(rbm, answers, settings, weights, progress, hidden, **more)
        seen.append((settings, hidden, history, rbm))
        return history

    for room in (base, trainer):
        monkeypatch.setattr(room, "train", told)
    return seen


def test_machines_beside_the_first_learn_from_all_answers_once_it_told_for_how_long(table, runs):
    frame, schema = table
    model = MVRBM(3, schema=schema, max_epochs=6, n_models=3, random_state=0).fit(frame)
    (_, _, history, _), *others = runs
    assert model.rbm_.others == [rbm for *_, rbm in others]
    assert len({own.seed for own, *_ in runs}) == 3
    for _, theirs, told, _ in others:
        assert theirs is None
        assert "loss" not in told.epochs[0]
        assert len(told.epochs) == history.best_epoch + 50
        assert told.epochs[0]["learning_rate"] == history.epochs[0]["learning_rate"]
        assert told.epochs[-1]["learning_rate"] < 0.02 * told.epochs[0]["learning_rate"]


@pytest.mark.parametrize(
    "settings", [{"refit_epochs": 0}, {"early_stopping": False}, {"max_epochs": 0}, {"learning_rate": 30.0}]
)
def test_machines_beside_one_that_did_not_tell_for_how_long_learn_alike(table, runs, settings):
    frame, schema = table
    model = MVRBM(3, **{"schema": schema, "max_epochs": 6, "n_models": 3, "random_state": 0} | settings).fit(frame)
    (first, hidden, _, _), *others = runs
    assert model.rbm_.others == [rbm for *_, rbm in others]
    for own, theirs, *_ in others:
        assert theirs is hidden
        assert replace(own, seed=first.seed) == first


def test_a_machine_beside_the_first_that_went_astray_is_left_out(table, monkeypatch):
    frame, schema = table
    train = trainer.train

    def astray(rbm, *given, **more):
        history = train(rbm, *given, **more)
        rbm.parameters.vector[:] = 20 * np.random.default_rng(0).standard_normal(len(rbm.parameters.vector))
        rbm.refresh()
        return history

    monkeypatch.setattr(trainer, "train", astray)
    with pytest.warns(UserWarning, match="the model has 1 of 3 machines: .* no better .* set a smaller learning_rate"):
        model = MVRBM(3, schema=schema, max_epochs=6, n_models=3, random_state=0).fit(frame)
    assert not model.rbm_.others


def test_how_sure_a_machine_is_comes_from_answers_that_it_has_not_learnt(table, monkeypatch):
    frame, schema = table
    done = []
    for name in ("train", "refit", "train_beside"):
        own = getattr(base, name)
        monkeypatch.setattr(base, name, lambda *given, n=name, own=own, **more: done.append(n) or own(*given, **more))
    tune = base.inference.tune
    monkeypatch.setattr(base.inference, "tune", lambda *given: done.append("tune") or tune(*given))
    MVRBM(3, schema=schema, max_epochs=6, n_models=3, random_state=0).fit(frame)
    assert done == ["train", "tune", "refit", "train_beside", "train_beside"]


def test_ctrl_c_in_the_refit_leaves_what_was_trained_and_says_what_is_missing(table, monkeypatch):
    frame, schema = table
    epoch, before = trainer._Run._epoch, []

    def interrupted(run, number, rate):
        if run.what == "the refit":
            before.append(run.rbm.parameters.vector.copy())
            raise KeyboardInterrupt
        return epoch(run, number, rate)

    monkeypatch.setattr(trainer._Run, "_epoch", interrupted)
    with pytest.warns(UserWarning, match="interrupted") as said:
        model = MVRBM(3, schema=schema, max_epochs=6, n_models=3, random_state=0).fit(frame)
    assert [str(each.message) for each in said] == [
        "the refit was interrupted in epoch 1: the model is as it was before",
        "training was interrupted: the model has 1 of 3 machines",
    ]
    np.testing.assert_array_equal(model.rbm_.parameters.vector, before[0])
    assert model.history_.stopped == "interrupted"


def test_ctrl_c_ends_every_machine(table, monkeypatch):
    frame, schema = table
    runs = []
    train = base.train

    def interrupted(rbm, *given, **more):
        runs.append(rbm)
        history = train(rbm, *given, **more)
        history.stopped = "interrupted" if len(runs) == 2 else history.stopped
        return history

    for room in (base, trainer):
        monkeypatch.setattr(room, "train", interrupted)
    with pytest.warns(UserWarning, match="training was interrupted: the model has 1 of 4 machines"):
        model = small(schema=schema, n_models=4).fit(frame)
    assert len(runs) == 2
    assert not model.rbm_.others
    assert model.history_.stopped == "interrupted"
