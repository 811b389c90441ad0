"""MVRBMPredictor, MVRBMClassifier and MVRBMRegressor through their public contract."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mvrbm import (
    MVRBM,
    Binary,
    Continuous,
    Multicategorical,
    MVRBMClassifier,
    MVRBMPredictor,
    MVRBMRegressor,
    Schema,
)
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.estimators import predictor
from mvrbm.summary import summarise
from mvrbm.training import DivergenceError
from mvrbm.training.conditional import Conditional, HiddenTargets, hide_targets
from mvrbm.training.predictive import Task, train_predictor
from mvrbm.units import KINDS
from mvrbm.visible import Visible

METHODS = ["generative", "discriminative", "hybrid", "finetune", "features"]
STOCHASTIC = {"check_sample_weight_equivalence_on_dense_data": "fitting is stochastic"}


@pytest.fixture(scope="module")
def survey():
    return make_survey(300, count=2, random_state=1)


def small(target, **settings):
    return MVRBMPredictor(target, **{"n_hidden": 4, "max_epochs": 3, "random_state": 0, **settings})


@parametrize_with_checks(
    [
        MVRBMPredictor(0, n_hidden=4, max_epochs=3),
        MVRBMClassifier(max_epochs=40, n_hidden=5),
        MVRBMRegressor(max_epochs=40, n_hidden=5),
    ],
    expected_failed_checks=lambda model: STOCHASTIC,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_a_target_of_every_type(survey, method, recipe):
    """Legal answers, the probabilities of the contract, and several targets at once as one frame."""
    frame, schema = survey
    one_of_each = list({q.kind: q.name for q in schema}.values())
    model = small(one_of_each, schema=schema, method=method, recipe=recipe).fit(frame)
    found = model.predict(frame)
    assert list(found.columns) == [column for name in one_of_each for column in schema[name].columns]
    assert not found.isna().any(axis=None)
    schema.learn(frame)  # the made schema knows its values
    assert len(Schema([schema[name] for name in one_of_each]).learn(found)) == len(KINDS)
    p = model.predict_proba(frame)
    assert {name.split(": ")[0] for name in p.columns} == set(one_of_each)
    assert np.isfinite(p.to_numpy()).all()
    assert np.isfinite(model.score(frame))
    for name in one_of_each[:2]:
        own = p[[column for column in p.columns if column.startswith(f"{name}: ")]]
        np.testing.assert_allclose(own.sum(axis=1), 1, atol=1e-6)


def test_several_machines_stop_by_other_people(survey, monkeypatch):
    frame, schema = survey
    hidden = []

    def seen(self, rbm, workers, weights=None, loss=HiddenTargets.loss):
        hidden.append(tuple(self.rows))
        return loss(self, rbm, workers, weights)

    monkeypatch.setattr(HiddenTargets, "loss", seen)
    model = small(schema.names[0], schema=schema).fit(frame)
    assert len(set(hidden)) == 1 + len(model.rbm_.others) == 3
    assert sum(map(len, set(hidden))) == len(set().union(*hidden))
    together = model.predict_proba(frame).to_numpy()
    alone = small(schema.names[0], schema=schema, n_models=1).fit(frame)
    np.testing.assert_array_equal(alone.rbm_.parameters.vector, model.rbm_.parameters.vector)
    assert not alone.rbm_.others
    assert (alone.predict_proba(frame).to_numpy() != together).any()


def test_a_further_machine_that_goes_astray_is_left_out(survey, monkeypatch):
    frame, schema = survey

    def astray(*given):
        if given[-1] == 2:
            raise DivergenceError("training diverged")
        return train_predictor(*given)

    monkeypatch.setattr(predictor, "train_predictor", astray)
    with pytest.warns(UserWarning, match="the model has 2 of 3 machines: training diverged"):
        model = small(schema.names[0], schema=schema).fit(frame)
    assert len(model.rbm_.others) == 1


@pytest.mark.parametrize("solver", ["minibatch", "lbfgs"])
def test_an_interrupted_further_machine_is_left_out(survey, monkeypatch, solver):
    frame, schema = survey
    whole = small(schema.names[0], schema=schema, solver=solver, n_models=1).fit(frame)
    climb = Conditional.climb

    def stopped(self, rbm, chunk, *more):
        if self.seed != whole_seed:
            raise KeyboardInterrupt
        return climb(self, rbm, chunk, *more)

    whole_seed = whole._settings().seed
    monkeypatch.setattr(Conditional, "climb", stopped)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = small(schema.names[0], schema=schema, solver=solver).fit(frame)
    assert [str(each.message) for each in said] == ["training was interrupted: the model has 1 of 3 machines"]
    assert model.history_.stopped == "interrupted"
    np.testing.assert_array_equal(model.predict_proba(frame), whole.predict_proba(frame))


@pytest.mark.parametrize("seed", range(4))
def test_lbfgs_with_numbers_that_make_hidden_units_sure(seed):
    """Where P(h = 1) is 1 to the last digit, and a level would turn it off, rounding must not leave 0 / 0."""
    rng = np.random.default_rng(seed)
    middle = rng.standard_normal(300)
    target = np.where(np.abs(middle) < 0.7, 3, 0) + 0.3 * rng.standard_normal(300)
    frame = pd.DataFrame({"a": np.exp(middle), "b": middle + 0.3 * rng.standard_normal(300), "t": target})
    schema = Schema([Continuous("a", low=0), Continuous("b"), Continuous("t")])
    settings = {"solver": "lbfgs", "schema": schema, "random_state": 0, "max_epochs": 60, "n_hidden": 8}
    model = MVRBMPredictor("t", **settings).fit(frame)
    assert np.isfinite(model.rbm_.parameters.vector).all()
    assert np.std(np.asarray(model.predict(frame), float) - target) < 1.6


def test_an_interrupted_lbfgs_leaves_a_model(survey, monkeypatch):
    frame, schema = survey
    left = iter(range(3))
    climb = Conditional.climb

    def stopped(*given):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return climb(*given)

    monkeypatch.setattr(Conditional, "climb", stopped)
    which, missing = "training was interrupted in step", "the model has 1 of 3 machines"
    with pytest.warns(UserWarning, match=which), pytest.warns(UserWarning, match=missing):
        model = small(schema.names[0], schema=schema, solver="lbfgs", n_threads=1).fit(frame)
    assert model.history_.stopped == "interrupted"
    assert np.isfinite(model.predict_proba(frame).to_numpy()).all()


def test_only_people_who_count_tell_when_to_stop(survey):
    frame, schema = survey
    answers, questions = encode(frame, schema), list(schema)
    visible = Visible(questions, summarise(answers, questions))
    weights = (np.arange(len(frame)) % 20 == 0).astype(float)
    hidden = hide_targets(answers, visible, [0], 0.4, 0, None, weights)
    assert len(hidden.rows)
    assert weights[hidden.rows].all()


@pytest.mark.parametrize("method", ["discriminative", "features"])
def test_targets_are_no_answers_hidden_at_random(survey, method):
    """So the free energy of rows with them is compared with nothing."""
    frame, schema = survey
    history = small(schema.names[0], schema=schema, method=method).fit(frame).history_
    assert history.epochs
    assert set(history.epochs[0]) == {"learning_rate", "loss"}


def test_several_on_fixed_vectors_have_no_temper():
    frame, schema = make_survey(900, random_state=1)
    name = next(q.name for q in schema if q.kind == "ordinal")
    for n_models in (1, 2):
        model = small(name, schema=schema, method="features", n_models=n_models).fit(frame)
        tempers = [part.block.temper[0] for part in model.rbm_.visible.parts]
        assert (set(tempers) == {1.0}) == (n_models > 1)


def test_chains_learn_several_machines_too(survey):
    frame, schema = survey
    assert len(small(schema.names[0], schema=schema, method="hybrid").fit(frame).rbm_.others) == 2
    assert not small(schema.names[0], schema=schema, recipe="paper").fit(frame).rbm_.others
    model = MVRBM(3, schema=schema, objective="cd", n_models=2, max_epochs=2, random_state=0).fit(frame)
    assert len(model.rbm_.others) == 1
    assert not MVRBM(3, schema=schema, objective="cd", max_epochs=1, random_state=0).fit(frame).rbm_.others
    alone = MVRBM(3, schema=schema, objective="cd", max_epochs=2, random_state=0).fit(frame)
    name = schema.names[0]
    assert (model.predict_proba(frame, name) != alone.predict_proba(frame, name)).any(axis=None)


def test_links_between_others_would_stay_at_nothing(survey, monkeypatch):
    frame, schema = survey
    names = [next(q.name for q in schema if q.kind == kind) for kind in ("ordinal", "multicategorical")]
    model = small(names, schema=schema, early_stopping=False).fit(frame)
    monkeypatch.setattr(Task, "learnt", None)
    whole = small(names, schema=schema, early_stopping=False).fit(frame)
    assert 0 < len(model.rbm_.links) < len(whole.rbm_.links)
    assert (model.rbm_.parameters.links != 0).all()
    assert np.count_nonzero(whole.rbm_.parameters.links) == np.count_nonzero(model.rbm_.parameters.links)
    np.testing.assert_allclose(model.predict_proba(frame), whole.predict_proba(frame), atol=1e-5)


def test_the_targets_own_answer_is_not_looked_at(survey):
    frame, schema = survey
    name = next(q.name for q in schema if q.kind == "ordinal")
    model = small(name, schema=schema).fit(frame)
    expected = model.predict_proba(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (frame.drop(columns=name), frame.assign(**{name: None}), frame.assign(**{name: "never heard of"})):
            pd.testing.assert_frame_equal(model.predict_proba(other), expected)
            np.testing.assert_array_equal(model.predict(other), model.predict(frame))


def test_several_targets_are_not_told_each_other(survey):
    frame, schema = survey
    a, b = schema.names[:2]
    model = small([a, b], schema=schema).fit(frame)
    assert model.targets_ == [a, b]
    expected = model.predict_proba(frame)
    values = schema[b].values
    for value in values:
        pd.testing.assert_frame_equal(model.predict_proba(frame.assign(**{b: value})), expected)
    # and so the score of the one does not depend on the other's answer
    alone = frame.assign(**{a: None})
    swapped = alone.assign(**{b: frame[b]})
    assert model.score(swapped) == pytest.approx(model.score(alone.assign(**{b: frame[b]})))


def test_a_column_number_of_an_array():
    rng = np.random.default_rng(0)
    array = rng.standard_normal((200, 3))
    array[:, 2] = array[:, 0] - array[:, 1] + 0.1 * rng.standard_normal(200)
    model = MVRBMPredictor(2, random_state=0).fit(array)
    assert np.corrcoef(model.predict(array), array[:, 2])[0, 1] > 0.9
    np.testing.assert_array_equal(MVRBMPredictor(-1, random_state=0).fit(array).predict(array), model.predict(array))


@pytest.mark.usefixtures("small_chunks")
def test_threads_change_no_bit(survey):
    frame, schema = survey
    for settings in ({"method": "hybrid"}, {"solver": "lbfgs"}, {"method": "features"}):
        a, b = (small(schema.names[0], schema=schema, n_threads=n, **settings).fit(frame) for n in (1, 3))
        np.testing.assert_array_equal(a.rbm_.parameters.vector, b.rbm_.parameters.vector)


def among_noise(seed, n_rows):
    """Two numbers decide y; eighteen other questions have far more to say, of each other."""
    rng = np.random.default_rng(seed)
    traits = rng.standard_normal((n_rows, 3))
    frame = {f"a{i}": (1.5 * traits[:, i % 3] + rng.standard_normal(n_rows) > 0).astype(int) for i in range(18)}
    x = rng.standard_normal((n_rows, 2))
    frame |= {"x0": x[:, 0], "x1": x[:, 1]}
    frame["y"] = (1.5 * x[:, 0] - 1.5 * x[:, 1] + 0.5 * rng.logistic(size=n_rows) > 0).astype(int)
    return pd.DataFrame(frame)


def test_discriminative_beats_generative_on_the_held_out_conditional_likelihood():
    """Of the paper's machine: direct links would let the generative one see what matters, too."""
    binary = [Binary(f"a{i}", values=[0, 1]) for i in range(18)]
    schema = Schema([*binary, Continuous("x0"), Continuous("x1"), Binary("y", values=[0, 1])])
    seen, new = among_noise(0, 800), among_noise(1, 2000)
    score = {
        method: MVRBMPredictor("y", schema=schema, method=method, objective="cd", n_hidden=3, random_state=0)
        .fit(seen)
        .score(new)
        for method in ("generative", "discriminative")
    }
    assert score["discriminative"] > score["generative"] + 0.1


def two_groups(seed, n_rows):
    """Two groups of people, told apart by 24 noisy questions; y is the group, with a few mistakes."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n_rows)
    frame = {f"a{i}": (rng.random(n_rows) < np.where(group == i % 2, 0.7, 0.3)).astype(int) for i in range(24)}
    frame["y"] = np.where(rng.random(n_rows) < 0.95, group, 1 - group).astype(float)
    return pd.DataFrame(frame)


def test_hybrid_with_unlabelled_rows_beats_discriminative_when_labels_are_few():
    schema = Schema([*(Binary(f"a{i}", values=[0, 1]) for i in range(24)), Binary("y", values=[0, 1])])
    seen, new = two_groups(0, 1500), two_groups(1, 2000)
    seen.loc[30:, "y"] = np.nan

    def score(method, n_models):
        told = {"schema": schema, "hybrid_weight": 0.5, "n_hidden": 4, "n_models": n_models}
        models = [MVRBMPredictor("y", method=method, random_state=seed, **told) for seed in range(3)]
        return np.mean([model.fit(seen).score(new) for model in models])

    assert score("hybrid", 1) > score("discriminative", 1) + 0.03
    assert score("hybrid", 3) > score("discriminative", 3)


@pytest.mark.parametrize("method", ["discriminative", "finetune", "features"])
def test_lbfgs_climbs_at_least_as_high(method):
    schema = Schema([*(Binary(f"a{i}", values=[0, 1]) for i in range(24)), Binary("y", values=[0, 1])])
    frame = two_groups(0, 600)
    score = {
        solver: MVRBMPredictor(
            "y", schema=schema, method=method, solver=solver, n_hidden=3, random_state=0, max_epochs=60,
            early_stopping=False, objective="cd",
        )
        .fit(frame)
        .score(frame)
        for solver in ("minibatch", "lbfgs")
    }  # fmt: skip
    assert score["lbfgs"] > score["minibatch"] - 0.005


def test_a_threshold_that_is_given():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.standard_normal(400)})
    for option in "abc":
        frame[option] = (frame["x"] + rng.standard_normal(400) > 1).astype(int)
    found = {}
    for threshold in (None, 0.05, 0.5, 0.95):
        question = Multicategorical("m", columns={option: option for option in "abc"}, threshold=threshold)
        model = MVRBMPredictor("m", schema=Schema([Continuous("x"), question]), random_state=0).fit(frame)
        chosen = model.predict(frame).to_numpy() == 1
        found[threshold] = chosen.mean()
        if threshold:
            np.testing.assert_array_equal(chosen, model.predict_proba(frame).to_numpy() >= threshold)
    assert found[0.05] > found[0.5] > found[0.95]
    assert found[0.05] > found[None] > found[0.95]


def test_in_scikit_learns_company():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.iloc[::7, 1] = np.nan
    pipeline = make_pipeline(StandardScaler(), MVRBMClassifier(random_state=0, max_epochs=30))
    assert cross_val_score(pipeline, X, y, cv=3, n_jobs=2).mean() > 0.85
    search = GridSearchCV(MVRBMClassifier(random_state=0, solver="lbfgs"), {"n_hidden": [2, 5]}, cv=3, n_jobs=2)
    assert search.fit(X, y.map(dict(enumerate("abc")))).best_score_ > 0.8
    assert set(search.classes_) == set("abc")
    both = ColumnTransformer(
        [("vector", MVRBM(3, max_epochs=3, random_state=0), X.columns[:2]), ("rest", "passthrough", X.columns[2:])]
    )
    features = make_pipeline(both.set_output(transform="pandas"), LogisticRegression())
    columns = list(features.fit(X, y)[0].transform(X).columns)
    assert columns[:3] == ["vector__mvrbm0", "vector__mvrbm1", "vector__mvrbm2"]
    polars = MVRBM(3, max_epochs=3, random_state=0).set_output(transform="polars").fit_transform(X)
    assert type(polars).__module__.startswith("polars")


def test_a_predictor_is_searched_and_cross_validated_without_a_y(survey):
    frame, schema = survey
    name = schema.names[0]
    assert cross_val_score(small(name, schema=schema), frame, cv=2).shape == (2,)
    search = GridSearchCV(small(name, schema=schema), {"method": ["discriminative", "features"]}, cv=2)
    assert search.fit(frame).best_params_["method"] in METHODS


def test_weights_are_routed():
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 2, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MVRBMClassifier(random_state=0, max_epochs=20).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, y, sample_weight=weights)
        MVRBM().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    assert pipeline.predict_proba(X)[:, 2].max() < 0.5


def test_a_table_of_texts_and_blanks_with_a_y_beside_it(survey):
    frame, schema = survey
    schema = Schema([q for q in schema if q.kind != "binary"])
    y = np.where(frame["binary_1"].isna(), "unsure", frame["binary_1"].astype(str))
    model = MVRBMClassifier(schema=schema, random_state=0, max_epochs=5).fit(frame, y)
    assert set(model.predict(frame)) <= set(model.classes_) == set(y)
    np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1)
    numbers = MVRBMRegressor(schema=schema, random_state=0, max_epochs=5).fit(frame, np.arange(len(frame)))
    assert np.isfinite(numbers.predict(frame.iloc[[0]])).all()


def test_a_y_whose_name_is_taken():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"y": rng.standard_normal(60), "y_": rng.standard_normal(60)})
    model = MVRBMRegressor(random_state=0, max_epochs=3).fit(X, X["y"])
    assert model.targets_ == ["y__"]


def test_a_fit_that_fails_leaves_the_model_of_the_one_before(survey):
    frame, schema = survey
    model = small(schema.names[0], schema=schema).fit(frame)
    before = model.predict_proba(frame)
    with pytest.raises(ValueError, match="blank in every row"):
        model.fit(frame.assign(**{schema.names[0]: None}))
    pd.testing.assert_frame_equal(model.predict_proba(frame), before)


NUMBERS = np.random.default_rng(0).standard_normal((30, 3))
CLASSES = np.arange(30) % 2
SPARSE = np.where((np.arange(30)[:, None] < 20) & [True, False, False], np.nan, NUMBERS)
BAD = [
    (MVRBMPredictor(), (NUMBERS,), "target is not set; give the name of a question"),
    (MVRBMPredictor("hieght"), (pd.DataFrame(NUMBERS, columns=["height", "b", "c"]),), "did you mean 'height'?"),
    (MVRBMPredictor(7), (NUMBERS,), "target is column 7, but the table has 3 columns"),
    (MVRBMPredictor([]), (NUMBERS,), "target names no question"),
    (MVRBMPredictor([0, 1, 2]), (NUMBERS,), "every question is a target"),
    (MVRBMPredictor(0, method="magic"), (NUMBERS,), "method must be one of 'generative'"),
    (MVRBMPredictor(0, solver="magic"), (NUMBERS,), "solver must be one of 'minibatch'"),
    (MVRBMPredictor(0, solver="lbfgs", method="hybrid"), (NUMBERS,), "needs an objective that has a value"),
    (MVRBMPredictor(0, hybrid_weight=-0.1), (NUMBERS,), "hybrid_weight must be"),
    (MVRBMPredictor(0, hybrid_weight=1.1), (NUMBERS,), "hybrid_weight must lie between 0 and 1, not 1.1"),
    (MVRBMPredictor(0, hybrid_weight=float("nan")), (NUMBERS,), "hybrid_weight must be"),
    (MVRBMPredictor(0, n_hidden=-1), (NUMBERS,), "n_hidden must be a whole number, 0 or more"),
    (MVRBMPredictor(0, gibbs_steps=0), (NUMBERS,), "gibbs_steps must be a whole number, 1 or more"),
    (
        MVRBMPredictor(0),
        (np.where([True, False, False], np.nan, NUMBERS),),
        "target is column 0, in which no question was found",
    ),
    (MVRBMPredictor(0, solver="lbfgs", recipe="paper"), (NUMBERS,), "the paper learns target '0' by chains"),
    (MVRBMPredictor(0), (SPARSE, None, 1.0 * np.isnan(SPARSE[:, 0])), "answers the target has a weight of 0"),
    (MVRBMClassifier(), (NUMBERS, np.zeros(30)), "only one class is present"),
    (MVRBMClassifier(), (NUMBERS, CLASSES[:-1]), "inconsistent numbers of samples"),
    (MVRBMClassifier(), (NUMBERS, np.linspace(0, 1, 30)), "Unknown label type"),
    (MVRBMClassifier(), (NUMBERS, np.where(CLASSES, np.nan, 1.0)), "NaN"),
    (MVRBMClassifier(), (NUMBERS, CLASSES, -np.ones(30)), "sample_weight must be 30 finite numbers, 0 or more"),
    (MVRBMRegressor(), (NUMBERS, np.full(30, np.inf)), "infinity"),
    (MVRBMRegressor(), (NUMBERS, ["a"] * 30), "could not convert"),
]


@pytest.mark.parametrize(("model", "given", "said"), BAD, ids=[said[:30] for _, _, said in BAD])
def test_bad_input_is_told(model, given, said):
    with pytest.raises((ValueError, TypeError)) as error:
        model.fit(*given)
    assert said in str(error.value)


def test_use_before_fit_and_tables_of_another_width():
    for model in (MVRBMPredictor(0), MVRBMClassifier(), MVRBMRegressor()):
        with pytest.raises(NotFittedError):
            model.predict(NUMBERS)
    with pytest.raises(ValueError, match="X has 2 features, but MVRBMClassifier is expecting 3 features as input"):
        MVRBMClassifier(max_epochs=1).fit(NUMBERS, CLASSES).predict(NUMBERS[:, :2])


def test_the_settings_are_in_the_signature():
    assert MVRBMPredictor(0, l2=0.5).get_params()["l2"] == 0.5
    assert set(MVRBM().get_params()) | {"target", "method", "hybrid_weight", "solver"} == set(
        MVRBMPredictor().get_params()
    )
    assert "target" not in MVRBMClassifier().get_params()
    with pytest.raises(TypeError, match="learning_rat"):
        MVRBMClassifier(learning_rat=1)


def test_a_target_by_the_name_of_a_column_and_of_a_table_without_it(survey):
    frame, schema = survey
    question = next(q for q in schema if q.kind == "multicategorical")
    model = small(question.columns[1], schema=schema).fit(frame)
    assert model.targets_ == [question.name]
    numbers = pd.DataFrame(NUMBERS, columns=list("abc"))
    model = MVRBMPredictor("c", max_epochs=2, random_state=0).fit(numbers)
    np.testing.assert_array_equal(model.predict(numbers[["a", "b"]]), model.predict(numbers))


@pytest.mark.usefixtures("small_chunks")
def test_being_told_what_is_answered_can_be_left_out_by_itself(survey):
    frame, schema = survey
    found = [
        MVRBM(4, schema=schema, answered=False, max_epochs=3, random_state=0, n_threads=n).fit(frame).transform(frame)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(("solver", "n_rows", "error"), [("lbfgs", 400, 0.1), ("minibatch", 2000, 0.12)])
def test_a_number_that_follows_from_others_is_told_closely(solver, n_rows, error):
    """By its links with them, which nothing holds back where only the target is learnt."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2 * n_rows, 2))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(2 * n_rows)
    model = MVRBMRegressor(n_hidden=10, n_models=1, solver=solver, random_state=0).fit(X[:n_rows], y[:n_rows])
    assert np.sqrt(np.mean((model.predict(X[n_rows:]) - y[n_rows:]) ** 2)) / y.std() < error
