"""The jobs of the estimator: filling blanks, predicting, probabilities, over tables of every library."""

import numpy as np
import pandas as pd
import pytest

from frames import LIBRARIES
from mvrbm import MVRBM, Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking, Schema, load
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.tables import Table


@pytest.fixture(scope="module")
def survey():
    frame, schema = make_survey(300, ranking=2, count=2, random_state=1)
    model = MVRBM(n_hidden=8, schema=schema, max_epochs=15, random_state=0).fit(frame)
    return frame, schema, model


@pytest.fixture(scope="module", params=LIBRARIES)
def each(request, survey):
    library = LIBRARIES[request.param]
    return library, library.frame(survey[0].to_dict("list")), survey[1], survey[2]


def test_complete_fills_every_blank_and_nothing_else(each):
    library, frame, schema, model = each
    filled = model.complete(frame)
    assert type(filled) is library.kind
    assert library.types(filled) == library.types(frame)
    answers = encode(filled, schema)
    assert (answers.codes != answers.blank).all()
    assert not np.isnan(answers.numbers).any()
    for name in Table(frame).names:
        before, after = library.cells(frame, name), library.cells(filled, name)
        assert [new for new, old in zip(after, before, strict=True) if old is not None] == [
            old for old in before if old is not None
        ]
        assert None in before
        assert None not in after


def test_every_library_is_filled_alike(each, survey):
    library, frame, _, model = each
    filled, plain = model.complete(frame), model.complete(survey[0])
    for name in plain.columns:
        assert library.cells(filled, name) == LIBRARIES["pandas"].cells(plain, name)


def test_rows_never_seen_one_row_and_a_row_without_answers(survey):
    model = survey[2]
    other, _ = make_survey(40, ranking=2, count=2, random_state=9)
    filled = model.complete(other)
    one = model.complete(other.iloc[[7]])
    pd.testing.assert_frame_equal(one, filled.iloc[[7]])
    nothing = other.iloc[[0]].mask(np.ones((1, other.shape[1]), dtype=bool))
    with pytest.warns(UserWarning, match="the table lacks"):
        assert not model.complete(nothing.iloc[:, :3]).isna().any().any()
    assert not model.complete(nothing).isna().any().any()


def test_questions_and_where_restrict_what_is_filled(survey):
    frame, _, model = survey
    some = model.complete(frame, questions=["binary_1", "continuous_1"])
    assert not some[["binary_1", "continuous_1"]].isna().any().any()
    pd.testing.assert_frame_equal(
        some.drop(columns=["binary_1", "continuous_1"]), frame.drop(columns=["binary_1", "continuous_1"])
    )
    rows = np.arange(len(frame)) < 10
    part = model.complete(frame, where=rows)
    assert not part[:10].isna().any().any()
    pd.testing.assert_frame_equal(part[10:], frame[10:])
    cells = pd.DataFrame({"binary_1": rows})
    only = model.complete(frame, where=cells)
    assert not only["binary_1"][:10].isna().any()
    pd.testing.assert_frame_equal(only.drop(columns="binary_1"), frame.drop(columns="binary_1"))
    with pytest.raises(ValueError, match="where must say for each of the 300 rows"):
        model.complete(frame, where=[True])
    with pytest.raises(ValueError, match="no question is named 'binary1'; did you mean 'binary_1'"):
        model.complete(frame, questions=["binary1"])


def test_flags_tell_which_cells_and_how_sure(survey):
    frame, _, model = survey
    filled, flags = model.complete(frame, flags=True)
    assert list(flags.columns) == ["row", "question", "column", "value", "certainty"]
    assert len(flags) == int(frame.isna().to_numpy().sum())
    for told in flags.sample(60, random_state=0).itertuples():
        assert filled[told.column].iloc[told.row] == told.value
        assert pd.isna(frame[told.column].iloc[told.row])
    codes = flags[~flags.question.str.match("continuous|count_2")]  # of which it is the standard deviation
    assert codes.certainty.between(0, 1).all()
    binary = flags[flags.question == "binary_1"]
    assert (binary.certainty >= 0.5).all()
    proba = model.predict_proba(frame, "binary_1")
    np.testing.assert_allclose(binary.certainty, proba.to_numpy()[binary.row].max(axis=1), atol=1e-5)


def test_predict_and_predict_proba_of_every_type(each):
    library, frame, schema, model = each
    everything = model.predict(frame)
    assert type(everything) is library.kind
    for question in schema:
        proba = model.predict_proba(frame, question.name)
        assert type(proba) is library.kind
        p = np.array([library.cells(proba, name) for name in Table(proba).names]).T
        assert p.shape[0] == 300
        predicted = model.predict(frame, question.name)
        if question.kind in ("binary", "categorical", "ordinal", "count") and len(p.T) == question.n_values:
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-6)
            assert Table(proba).names == [str(value) for value in question.values]
            assert set(predicted) <= set(question.values)
            assert library.cells(everything, question.name) == list(predicted)
        elif question.kind in ("continuous", "count"):
            assert Table(proba).names == ["mean", "sd", "5%", "25%", "50%", "75%", "95%"]
            assert (np.diff(p[:, 2:], axis=1) >= 0).all()
        else:
            assert ((p >= 0) & (p <= 1)).all()
            assert Table(predicted).names == question.columns
    every = model.predict_proba(frame)
    assert "binary_1: yes" in Table(every).names
    with pytest.raises(ValueError, match="no question is named 'x'; there are"):
        model.predict(frame, "x")


def test_a_row_is_not_predicted_by_its_own_answer(survey):
    frame, _, model = survey
    other = frame.assign(ordinal_1=frame["ordinal_1"].sample(frac=1, random_state=0).to_numpy())
    np.testing.assert_array_equal(model.predict(frame, "ordinal_1"), model.predict(other, "ordinal_1"))
    before, after = (model.predict_proba(f, "ordinal_1").to_numpy() for f in (frame, other))
    np.testing.assert_allclose(before, after, atol=1e-6)


def test_reconstruct_and_scores(each):
    library, frame, schema, model = each
    table = model.reconstruct(frame)
    assert type(table) is library.kind
    assert (encode(table, schema).codes != 255).all()
    scores = model.score_samples(frame)
    assert scores.shape == (300,)
    assert np.isfinite(scores).all()
    assert model.score(frame) == pytest.approx(scores.mean())
    assert model.score(frame, sample_weight=np.arange(300)) == pytest.approx(np.average(scores, weights=np.arange(300)))


def test_what_is_learnt_helps_on_answers_never_seen():
    """On a survey with something to learn, hidden answers are scored and filled better than by the marginals."""
    frame, schema = make_survey(1500, missing=0.1, random_state=2)
    train, rest = frame[:1000], frame[1000:]
    model = MVRBM(30, schema=schema, random_state=0).fit(train)
    baseline = MVRBM(0, schema=schema).fit(train)
    assert model.score(rest) > baseline.score(rest) + 0.02
    hidden = rest.assign(ordinal_1=None, categorical_1=None)
    for name in ("ordinal_1", "categorical_1"):
        there = rest[name].notna()
        right = [(m.complete(hidden)[name][there] == rest[name][there]).mean() for m in (model, baseline)]
        assert right[0] > right[1]


def test_skip_rules_bounds_and_given_ranks():
    rng = np.random.default_rng(0)
    n = 200
    seen = rng.choice(["no", "yes"], n)
    frame = pd.DataFrame(
        {
            "seen": np.where(rng.random(n) < 0.1, None, seen),
            "liked": np.where(seen == "yes", rng.choice(["no", "yes"], n), None),
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(18, 30, n)),
            **{f"r{i}": np.nan for i in range(3)},
            **{f"c{i}": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 2, n)) for i in range(3)},
            "hobbies": [None if r < 0.2 else "a;b" if r < 0.5 else "" for r in rng.random(n)],
        }
    )
    frame.loc[rng.random(n) < 0.3, "liked"] = None
    order = rng.random((n, 3)).argsort(axis=1) + 1.0
    frame[["r0", "r1", "r2"]] = np.where(rng.random((n, 3)) < 0.3, np.nan, order)
    schema = Schema(
        [
            Binary("seen", values=["no", "yes"]),
            Binary("liked", values=["no", "yes"], asked_if={"seen": "yes"}),
            Continuous("age", low=18, high=30, integer=True),
            Ranking("r", ranks={i: f"r{i}" for i in range(3)}),
            Multicategorical("c", columns={i: f"c{i}" for i in range(3)}),
            Multicategorical("hobbies", column="hobbies", values=["a", "b"]),
        ]
    )
    model = MVRBM(4, schema=schema, max_epochs=5, random_state=0).fit(frame)
    filled = model.complete(frame)
    assert not filled["seen"].isna().any()
    assert (filled.loc[filled.seen == "no", "liked"].isna() | frame.loc[filled.seen == "no", "liked"].notna()).all()
    assert not filled.loc[filled.seen == "yes", "liked"].isna().any()
    assert filled["age"].between(18, 30).all()
    assert (filled["age"] % 1 == 0).all()
    ranks = filled[["r0", "r1", "r2"]].to_numpy()
    given = frame[["r0", "r1", "r2"]].to_numpy()
    np.testing.assert_array_equal(ranks[~np.isnan(given)], given[~np.isnan(given)])
    np.testing.assert_array_equal(np.sort(ranks, axis=1), np.tile([1, 2, 3], (n, 1)))
    there = frame["hobbies"].notna()
    assert (filled.loc[there, "hobbies"] == frame.loc[there, "hobbies"]).all()


def test_codes_and_spellings_of_another_table_are_kept():
    rng = np.random.default_rng(0)
    schema = Schema([Categorical("q", values=[1, 2], labels={1: "low", 2: "high"}), Ordinal("o", values=[1, 2, 3])])
    frame = pd.DataFrame({"q": rng.choice([1, 2], 80), "o": rng.choice([1, 2, 3], 80)})
    model = MVRBM(2, schema=schema, max_epochs=2, random_state=0).fit(frame)
    other = pd.DataFrame({"q": ["low", None, "high"], "o": ["1", "2", None], "id": ["007", "008", "009"]})
    filled = model.complete(other)
    assert filled["q"].isin(["low", "high"]).all()
    assert filled["o"].isin(["1", "2", "3"]).all()
    assert filled["id"].tolist() == ["007", "008", "009"]


def test_labelled_parameters(survey):
    _, schema, model = survey
    frame = model.parameters_frame()
    assert len(frame) == model.rbm_.visible.n_features
    assert list(frame.columns[:4]) == ["question", "kind", "answer", "U"]
    assert set(frame["question"]) == set(schema.names)
    top = model.feature_answers(3)
    assert list(top.columns) == ["feature", "effect", "question", "answer", "weight"]
    assert len(top) == 8 * 6
    first = top[(top.feature == "mvrbm0") & (top.effect == "raises")]
    own = frame[~frame["kind"].isin(["continuous", "ranking"])]  # of those the weight is that of several features
    weight = own.set_index(["question", "answer"])["W0"]
    shown = first.set_index(["question", "answer"])["weight"]
    both = shown.index.intersection(weight.index)
    assert len(both)
    np.testing.assert_allclose(shown[both], weight[both])
    assert weight.drop(both).max() <= shown.min()


def test_draws_are_whole_tables_that_differ(survey):
    frame, schema, model = survey
    first, second = model.complete(frame, draws=2, random_state=0)
    again, _ = model.complete(frame, draws=2, random_state=0)
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(second)
    for drawn in (first, second):
        assert not drawn.isna().any().any()
        for name in frame.columns:
            there = frame[name].notna()
            assert (drawn.loc[there, name] == frame.loc[there, name]).all()
        encode(drawn, schema)  # every order is one that a person can give
    with pytest.raises(ValueError, match="random draws have none"):
        model.complete(frame, draws=2, flags=True)
    with pytest.raises(ValueError, match="draws must be a whole number, 1 or more"):
        model.complete(frame, draws=0)


def test_made_up_people(survey):
    _, schema, model = survey
    people = model.sample(50, random_state=1)
    assert all(people[q.name].dtype.kind == "f" for q in model.schema_ if q.kind == "continuous")
    assert list(people.columns) == schema.columns
    assert not encode(people, schema).numbers.size or np.isfinite(encode(people, schema).numbers).all()
    assert (encode(people, schema).codes != 255).all()
    pd.testing.assert_frame_equal(people, model.sample(50, random_state=1))
    some = model.sample(20, given={"binary_1": "yes"}, random_state=2)
    assert (some["binary_1"] == "yes").all()
    with pytest.raises(ValueError, match="given names 'x', which is no column of a question"):
        model.sample(1, given={"x": 1})
    with pytest.raises(ValueError, match="n_samples must be a whole number, 1 or more"):
        model.sample(0)


def test_partial_fit_goes_on_where_it_was():
    frame, schema = make_survey(1200, binary=20, n_traits=1, missing=0.1, random_state=2)
    parts = [frame.iloc[i::4] for i in range(3)]
    new = frame.iloc[3::4]
    model = MVRBM(8, schema=schema, random_state=0)
    for _ in range(6):
        for part in parts:
            model.partial_fit(part)
    assert len(model.history_.epochs) == 18
    assert model.score(new) > MVRBM(0, schema=schema).fit(parts[0]).score(new)  # whose marginals it started from
    one = MVRBM(8, schema=schema, random_state=0).partial_fit(parts[0])
    other = MVRBM(8, schema=schema, random_state=0).partial_fit(parts[0])
    assert (one.rbm_.parameters.vector == other.rbm_.parameters.vector).all()
    before = one.rbm_.parameters.vector.copy()
    one.partial_fit(parts[1])
    assert (one.rbm_.parameters.vector != before).any()
    one.fit(parts[0])  # starts anew
    np.testing.assert_array_equal(
        one.transform(new), MVRBM(8, schema=schema, random_state=0).fit(parts[0]).transform(new)
    )


def test_partial_fit_learns_the_values_from_the_first_part():
    frame = pd.DataFrame({"a": ["x", "y"] * 20, "b": np.arange(40.0)})
    schema = Schema([Categorical("a"), Continuous("b")])
    model = MVRBM(2, schema=schema, random_state=0).partial_fit(frame)
    with pytest.raises(ValueError, match="'z'"):
        model.partial_fit(frame.replace("x", "z"))
    model.set_params(unseen="missing")
    with pytest.warns(UserWarning, match="z"):
        model.partial_fit(frame.replace("x", "z"))
    assert model.schema_["a"].values == ["x", "y"]


def test_given_ranks_are_held_in_made_up_people():
    rng = np.random.default_rng(0)
    ranks = np.argsort(np.argsort(rng.random((80, 3)))) + 1
    frame = pd.DataFrame(ranks, columns=["r1", "r2", "r3"]).assign(x=rng.standard_normal(80))
    schema = Schema([Ranking("r", ranks={"a": "r1", "b": "r2", "c": "r3"}), Continuous("x")])
    model = MVRBM(2, schema=schema, max_epochs=2, random_state=0).fit(frame)
    made = model.sample(10, given={"r1": 1}, random_state=0)
    assert (made["r1"] == 1).all()
    assert not made.isna().any(axis=None)


def test_partial_fit_lets_the_other_machines_go():
    frame, schema = make_survey(100, random_state=0)
    model = MVRBM(3, schema=schema, max_epochs=2, n_models=3, random_state=0).fit(frame)
    assert len(model.rbm_.others) == 2
    assert not model.partial_fit(frame).rbm_.others


def test_partial_fit_by_another_objective_starts_its_steps_anew():
    frame, schema = make_survey(100, random_state=0)
    found = []
    for first in ("cd", "masked"):
        model = MVRBM(3, schema=schema, random_state=0, objective=first, links=0, answered=False).partial_fit(frame)
        model.set_params(objective="cd").partial_fit(frame)
        found.append(type(model._memory.objective).__name__)
    assert found == ["CD", "CD"]


def test_a_model_is_saved_as_it_was_fitted(tmp_path):
    frame, schema = make_survey(100, random_state=0)
    model = MVRBM(3, schema=schema, max_epochs=2, random_state=0).fit(frame)
    model.set_params(n_hidden=9).save(tmp_path / "m.mvrbm")
    np.testing.assert_array_equal(load(tmp_path / "m.mvrbm").transform(frame), model.transform(frame))
