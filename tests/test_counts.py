"""Counts as a type of their own: what it brings on made data, and what is told of them in files and on the way."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.counts import errors

from mvrbm import MVRBM, Binary, Continuous, Count, Schema, cli, read_table, write_table
from mvrbm.encoding import encode
from mvrbm.summary import summarise
from mvrbm.training.screening import screen
from mvrbm.visible import Visible


def test_counts_are_found_better_than_as_numbers_and_as_well_as_on_a_scale():
    """Be they few or dozens, over four surveys: `make bench-counts` has larger ones."""
    found = sum(errors(1000, seed=seed, n_models=1)[["a few", "dozens"]] for seed in range(4)) / 4
    assert (found.loc["count"] < found.loc["continuous"]).all(), found
    assert (found.loc["count"] < 1.03 * found.loc["ordinal"]).all(), found


@pytest.mark.parametrize(("rate", "sort"), [(3.0, "poisson"), (30.0, "wider"), (0.2, "rare"), (5.0, "more zeros")])
def test_without_hidden_units_the_marginal_is_met(rate, sort):
    """The start has the mean of the data and, except the paper's, its mean logarithm and spread."""
    random = np.random.default_rng(0)
    v = random.poisson(rate * (random.gamma(2, 0.5, 4000) if sort == "wider" else 1.0), 4000)
    v = np.where(random.random(4000) < 0.3, 0, v) if sort == "more zeros" else v
    schema = Schema([Count("v")]).learn(pd.DataFrame({"v": v}))
    answers = encode(pd.DataFrame({"v": v}), schema)
    for paper in (False, True):
        block = Visible(list(schema), summarise(answers, list(schema)), paper=paper).parts[0].block
        U, base = block.start(summarise(answers, list(schema)))
        p = block.probabilities(U[:, None], base)[:, 0]
        levels = np.arange(len(p))
        assert p @ levels == pytest.approx(v.mean(), rel=1e-3)
        if not paper:
            assert p @ np.log1p(levels) == pytest.approx(np.log1p(v).mean(), rel=1e-2)
            assert np.sqrt(p @ (levels - v.mean()) ** 2) == pytest.approx(v.std(), rel=0.05)


def test_the_papers_unit_is_poissons():
    """Given its inputs, up to where it is cut off."""
    frame = pd.DataFrame({"v": np.random.default_rng(0).poisson(2.0, 500)})
    schema = Schema([Count("v", high=60)])
    block = Visible(list(schema), summarise(encode(frame, schema), list(schema)), paper=True).parts[0].block
    p = block.probabilities(np.array([[-1.0, 2.0]]), np.ones(1))
    ratio = p[1:12] / p[:11] * np.arange(1, 12)[:, None]  # rate = (v + 1) P(v + 1) / P(v), the same for every v
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[0], ratio.shape), rtol=1e-6)
    assert ratio[0, 1] > ratio[0, 0]


FRAME = pd.DataFrame({"visits": [0, 1, 12, 3, None, 2] * 10, "glad": ["no", "yes", None] * 20})
SCHEMA = Schema([Count("visits", missing=[99], label="Visits last year"), Binary("glad", values=["no", "yes"])])


@pytest.mark.filterwarnings("ignore:.*alone does not tell")
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather", ".sav", ".dta"])
def test_a_file_brings_counts_back(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    write_table(FRAME, path, SCHEMA)
    frame, schema = read_table(path)
    assert schema == SCHEMA
    np.testing.assert_array_equal(encode(frame, schema.learn(frame)).codes, encode(FRAME, SCHEMA.learn(FRAME)).codes)


def test_the_command_line_takes_columns_for_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False)
    assert cli.main(["schema", "t.csv", "--counts"]) == 0
    assert "count" in capsys.readouterr().out.splitlines()[1].split()
    assert cli.main(["schema", "t.csv", "--counts", "-o", "t.schema.yaml"]) == 0
    assert "kind: count" in (tmp_path / "t.schema.yaml").read_text()
    assert Schema.from_yaml("t.schema.yaml")["visits"] == Count("visits")


def test_a_count_beyond_what_was_learnt_is_told_apart_from_no_count():
    model = MVRBM(2, schema=SCHEMA, max_epochs=2, random_state=0).fit(FRAME)
    assert model.schema_["visits"].high == 24
    new = pd.DataFrame({"visits": [24, 30], "glad": [None, None]})
    with pytest.raises(ValueError, match=r"question 'visits': value 30 \(row 1\) is above high=24; raise high"):
        model.transform(new)
    model.set_params(unseen="missing")
    with pytest.warns(UserWarning, match=r"1 cell not allowed and taken as blank, the first is 30 \(row 1\)"):
        filled = model.complete(new)
    assert filled["visits"].tolist() == [24, 30]  # what was there stays


def test_many_counts_are_told_by_their_moments_and_few_one_by_one():
    model = MVRBM(2, schema=SCHEMA, max_epochs=2, random_state=0).fit(FRAME)
    many = model.predict_proba(FRAME, "visits")
    assert list(many.columns) == ["mean", "sd", "5%", "25%", "50%", "75%", "95%"]
    np.testing.assert_array_equal(many["50%"], model.predict(FRAME, "visits"))
    fewer = Schema([Count("visits", high=20), *list(SCHEMA)[1:]])
    few = MVRBM(2, schema=fewer, max_epochs=2, random_state=0).fit(FRAME).predict_proba(FRAME, "visits")
    assert list(few.columns) == [str(n) for n in range(21)]
    np.testing.assert_allclose(few.sum(axis=1), 1, atol=1e-6)


def test_the_papers_base_is_not_learnt():
    def base(n_hidden, **settings):
        model = MVRBM(n_hidden, schema=SCHEMA, max_epochs=3, n_models=1, random_state=0, **settings).fit(FRAME)
        return float(model.rbm_.parameters.base[0])

    assert base(3, recipe="paper") == 1.0
    assert base(3) != base(0)


def test_counts_that_spread_a_hundred_times_wider_than_poissons_are_learnt():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"v": random.poisson(60 * random.gamma(0.6, 1 / 0.6, 600)), "b": random.random(600) < 0.5})
    assert frame["v"].var() > 80 * frame["v"].mean()
    schema = Schema([Count("v"), Binary("b", values=[False, True])])
    model = MVRBM(3, schema=schema, max_epochs=5, random_state=0).fit(frame)
    assert model.history_.undone == 0
    assert abs(model.predict(frame, "v") - frame["v"].median()).mean() < 10


def test_counts_and_numbers_are_not_linked_with_each_other():
    random = np.random.default_rng(0)
    v = random.poisson(4.0, 500)
    frame = pd.DataFrame({"a": v, "b": v + random.poisson(1.0, 500), "n": v + random.normal(size=500), "c": v > 4})
    schema = Schema([Count("a"), Count("b"), Continuous("n"), Binary("c", values=[False, True])]).learn(frame)
    visible = Visible(list(schema), summarise(encode(frame, schema), list(schema)))
    links = screen(visible, encode(frame, schema), None, 3)
    names = np.array(schema.names)[visible.question_order][visible.feature_question]
    pairs = {frozenset(names[[i, j]]) for i, j in zip(links.rows, links.columns, strict=True) if j < len(names)}
    assert pairs == {frozenset({"a", "c"}), frozenset({"b", "c"}), frozenset({"n", "c"})}
