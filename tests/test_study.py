"""The case study: the paper's trends on a small made survey, nothing computed twice, no answer seen before its time."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from frames import LIBRARIES
from mvrbm import MVRBM, Binary, MVRBMPredictor, Schema
from mvrbm.cli import main
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.study import paper, run_study
from mvrbm.study.experiments import Experiments, Sample, together
from mvrbm.study.grid import Cell, Store
from mvrbm.study.tables import Figures, trends, written

SMALL: dict[str, Any] = {
    "rows": 1000,
    "sizes": (5, 20),
    "prediction_sizes": (3,),
    "outputs": ("satisfied", "age"),
    "spread_seeds": 1,
    "spread_rows": 120,
}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return run_study(out=folder, **SMALL), folder


def test_the_papers_trends_appear_in_small(study):
    found = Figures(study[0])
    for recipe, own in trends(found).items():
        for trend in ("reconstruction: below the baseline", "completion: below the baseline"):
            assert own[trend] == [], recipe
        assert own["reconstruction: falls from the smallest K to the largest"] == [], recipe
    assert set(found.rows["completion"]) == set(paper.COMPLETION)


def test_no_completion_beats_the_best_possible(study):
    found = Figures(study[0])
    for row in found.rows["completion"]:
        best = found.best("completion", row)
        assert best is not None
        assert best < min(found.curve("completion", row, "default")), row
    assert found.best("reconstruction", "binary") is None  # whoever sees the answer needs no guess


def test_results_are_told_in_files(study):
    results, folder = study
    assert json.loads((folder / "results.json").read_text()) == json.loads(json.dumps(results))
    page = (folder / "tables.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith("| satisfied | 0 |"))
    assert "| 26.3 |" in row
    assert "1 runs of 120 people" in page
    assert page == written(results)
    minutes = sum(cell["processor_seconds"] for cell in results["cells"]) / 60
    assert f"and {minutes:.1f} minutes of processor time" in page
    for name in ("errors-reconstruction.png", "errors-completion.png", "errors-prediction.png", "map-paper.png"):
        assert (folder / name).stat().st_size > 5000
    shown = (folder / "figures.html").read_text()
    assert "http" not in shown.replace("http-equiv", "")
    (cell,) = [c for c in results["cells"] if c["experiment"] == "map" and c["recipe"] == "default"]
    assert shown.count('r="3"/>') == 2 * len(cell["labels"])
    assert len(set(cell["labels"])) == 10


def test_a_finished_study_is_not_computed_again_and_a_stopped_one_goes_on(study, monkeypatch):
    results, folder = study
    ran = []
    monkeypatch.setattr(Experiments, "run", lambda self, cell: ran.append(cell) or {"errors": {}})
    said: list[tuple[int, int, str]] = []
    assert run_study(out=folder, progress=lambda *a: said.append(a), **SMALL) == results
    assert ran == []
    assert said == [(len(results["cells"]), len(results["cells"]), "done")]
    gone = next((folder / "cells").glob("reconstruction-*.json"))
    kept = gone.read_text()
    gone.unlink()
    run_study(out=folder, progress=lambda *a: said.append(a), **SMALL)
    assert [cell.experiment for cell in ran] == ["reconstruction"]
    assert said[1][:2] == (len(results["cells"]) - 1, len(results["cells"]))
    gone.write_text(kept)


def test_a_folder_holds_one_study(study):
    with pytest.raises(ValueError, match="holds another study"):
        run_study(out=study[1], **{**SMALL, "rows": 100})


def test_a_survey_of_ones_own(tmp_path):
    frame, schema = make_survey(120, binary=2, ordinal=2, count=1, largest_categorical=6)
    data = LIBRARIES["polars"].frame({name: frame[name].tolist() for name in frame})
    results = run_study(
        data, schema, tmp_path, sizes=(2,), prediction_sizes=(2,), spread_seeds=0, max_epochs=2, recipes=["default"]
    )
    assert sorted(results["kinds"].values()) == sorted({question.kind for question in schema})
    page = (tmp_path / "tables.md").read_text()
    assert "the paper" not in page
    assert "best possible" not in page
    assert "recipe paper" not in page
    (cell,) = [cell for cell in results["cells"] if cell["experiment"] == "map"]
    assert cell["target"] == "categorical_1"
    assert cell["alike_regions"] is None


def test_an_unknown_output_is_refused(tmp_path):
    with pytest.raises(ValueError, match="'leader'"):
        run_study(out=tmp_path, rows=50, outputs=["leader"])


@pytest.mark.parametrize("experiment", ["completion", "prediction"])
def test_noise_cannot_be_guessed(experiment):
    """Answers by the toss of a coin: only who has seen them could be right more often than half of the time."""
    tosses = np.random.default_rng(0).integers(0, 2, (1500, 6)).astype(float)
    schema = Schema([Binary(f"toss_{i}", values=[0, 1]) for i in range(6)])
    answers = encode(pd.DataFrame(tosses, columns=schema.names), schema)
    target = "toss_3" if experiment == "prediction" else None
    cell = Cell(experiment, "default", 12, 1500, 0, target)
    error = Experiments(schema, Sample(answers, None)).run(cell)["errors"]["binary"]
    assert abs(error - 0.5) < 4 * 0.5 / np.sqrt(300 if target else 1800)


def test_what_is_scored_was_not_learnt_from(monkeypatch):
    frame, schema = make_survey(150, missing=0.1)
    experiments = Experiments(schema, Sample(encode(frame, schema), None), max_epochs=1)
    learnt, scored = [], []
    for kind in (MVRBM, MVRBMPredictor):
        fit = kind.fit
        monkeypatch.setattr(kind, "fit", lambda self, X, fit=fit, **more: learnt.append(X) or fit(self, X, **more))
    monkeypatch.setattr(Experiments, "_errors", lambda self, model, found, truth, weights: scored.append(truth) or {})
    experiments.run(Cell("completion", "default", 2, 150, 0))
    (kept,), (hidden,) = learnt, scored
    seen, all_of_it = encode(kept, schema), encode(frame, schema)
    there, was = hidden.codes != hidden.blank, all_of_it.codes != all_of_it.blank
    assert (seen.codes[there] == seen.blank).all()
    assert ((seen.codes != seen.blank) | there).sum() == was.sum()
    assert 0.15 < there.sum() / was.sum() < 0.25
    experiments.run(Cell("prediction", "default", 2, 150, 0, "ordinal_1"))
    assert (len(learnt[1]), scored[1].n_rows) == (120, 30)
    tested = scored[1].codes != scored[1].blank
    assert tested.any(axis=0).sum() == 1


def test_weights_count_in_the_errors():
    frame, schema = make_survey(200, missing=0.1)
    answers = encode(frame, schema)
    twice = np.concatenate([np.arange(200), np.arange(100)])
    weights = np.where(np.arange(200) < 100, 2.0, 1.0)
    cell = Cell("reconstruction", "paper", 0, 300, 0)
    by_weight = Experiments(schema, Sample(answers, weights)).run(cell)["errors"]
    by_rows = Experiments(schema, Sample(answers.take(twice), None)).run(cell)["errors"]
    assert by_weight == pytest.approx(by_rows, rel=1e-5)


def test_neighbours_alike():
    vectors = np.repeat(np.eye(2, dtype=np.float32), 12, axis=0)
    assert together(vectors, ["a"] * 12 + ["b"] * 12) == {"share": 1.0, "by_chance": 0.5}
    random = np.random.default_rng(0)
    vectors, labels = random.random((60, 3), np.float32), random.choice(["a", "b", "c"], 60).tolist()
    alike = []
    for person, vector in enumerate(vectors):
        others = [n for n in range(60) if n != person]
        nearest = sorted(others, key=lambda n, own=vector: ((vectors[n] - own) ** 2).sum())[:10]
        alike += [labels[n] == labels[person] for n in nearest]
    assert together(vectors, labels)["share"] == pytest.approx(np.mean(alike))


def test_the_papers_figures_are_whole():
    for table, sizes in (
        (paper.RECONSTRUCTION, paper.SIZES),
        (paper.COMPLETION, paper.SIZES),
        (paper.PREDICTION, paper.PREDICTION_SIZES),
    ):
        assert len(table) == 6
        assert all(len(row) == len(sizes) for row in table.values())
        assert all(row[0] == max(row) for row in table.values())
    assert paper.figure("completion", "ordinal", 500) == 17.9
    assert paper.figure("prediction", "country", 50) == 5.9
    assert paper.figure("completion", "ordinal", 7) is None


def test_a_store_keeps_what_it_is_given(tmp_path):
    store = Store(tmp_path, {"survey": "made"})
    cell, other = Cell("completion", "paper", 20, 100, 0), Cell("completion", "paper", 20, 100, 1)
    store.put(cell, {"errors": {"binary": 0.25}})
    assert Store(tmp_path, {"survey": "made"}).get(cell) == {"errors": {"binary": 0.25}}
    assert store.get(other) is None


@pytest.mark.slow
def test_the_quick_study_shows_the_papers_trends(tmp_path, capsys):
    assert main(["study", "--quick", "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == (tmp_path / "tables.md").read_text().strip()
    found = Figures(json.loads((tmp_path / "results.json").read_text()))
    for recipe, own in trends(found).items():
        assert all(rows == [] for rows in own.values()), recipe
    for row in found.rows["reconstruction"]:
        for recipe in found.plan["recipes"]:
            curve = found.curve("reconstruction", row, recipe)
            assert curve == sorted(curve, reverse=True), (row, recipe)
