"""The model file: the same bytes for the same model, the same answers after reload, a sentence for what is wrong."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save
from sklearn.exceptions import NotFittedError

import mvrbm
import write_fixture
from mvrbm import MVRBM, Continuous, Multicategorical, Ordinal, Schema
from mvrbm.arrays import KEY, Stored, _digest, read_arrays, write_arrays
from mvrbm.datasets import make_survey
from mvrbm.rbm import RBM
from oracle import machine, random_answers

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def survey():
    frame, schema = make_survey(300, count=2, random_state=1)
    return frame, schema, MVRBM(6, schema=schema, max_epochs=8, random_state=0).fit(frame)


@pytest.fixture
def saved(survey, tmp_path):
    survey[2].save(tmp_path / "m.mvrbm")
    return tmp_path / "m.mvrbm"


def header_of(path):
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    return json.loads(json.loads(raw[8 : 8 + size])["__metadata__"][KEY])


def test_the_reloaded_model_gives_the_same_answers_bit_for_bit(survey, saved):
    frame, _, model = survey
    loaded = mvrbm.load(saved)
    assert type(loaded) is MVRBM
    assert loaded.schema_ == model.schema_
    assert loaded.history_ == model.history_
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
    np.testing.assert_array_equal(loaded.score_samples(frame), model.score_samples(frame))
    pd.testing.assert_frame_equal(loaded.reconstruct(frame), model.reconstruct(frame))
    pd.testing.assert_frame_equal(loaded.predict(frame), model.predict(frame))
    pd.testing.assert_frame_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    for ours, theirs in zip(loaded.complete(frame, flags=True), model.complete(frame, flags=True), strict=True):
        pd.testing.assert_frame_equal(ours, theirs)
    for ours, theirs in zip(loaded.complete(frame, draws=2), model.complete(frame, draws=2), strict=True):
        pd.testing.assert_frame_equal(ours, theirs)
    pd.testing.assert_frame_equal(loaded.sample(20), model.sample(20))
    blocks = [part.block for part in loaded.rbm_.visible.parts]
    assert any((getattr(block, "threshold", np.zeros(1)) != 0).any() for block in blocks)  # what was tuned is there


def test_equal_models_are_equal_bytes(survey, saved, tmp_path):
    frame, schema, _ = survey
    for n_threads in (1, 2, 3):
        again = MVRBM(6, schema=schema, max_epochs=8, random_state=0, n_threads=n_threads, verbose=0)
        again.fit(frame).save(tmp_path / "again.mvrbm")
        assert (tmp_path / "again.mvrbm").read_bytes() == saved.read_bytes()
    mvrbm.load(saved).save(tmp_path / "again.mvrbm")
    assert (tmp_path / "again.mvrbm").read_bytes() == saved.read_bytes()
    MVRBM(6, schema=schema, max_epochs=8, random_state=1).fit(frame).save(tmp_path / "other.mvrbm")
    assert (tmp_path / "other.mvrbm").read_bytes() != saved.read_bytes()


def test_another_process_writes_and_answers_the_same(survey, saved, tmp_path):
    frame, _, model = survey
    frame.to_parquet(tmp_path / "frame.parquet")
    code = "import numpy, mvrbm\nm = mvrbm.load('m.mvrbm')\nm.save('again.mvrbm')\n"
    code += "numpy.save('out.npy', m.transform(mvrbm.read_table('frame.parquet')[0]))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert (tmp_path / "again.mvrbm").read_bytes() == saved.read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), model.transform(frame))


def test_the_header_is_sorted_and_tells_no_time_path_or_thread(saved):
    told = header_of(saved)
    assert json.dumps(told) == json.dumps(told, sort_keys=True)
    assert set(told) == {
        *("digest", "estimator", "fitted", "format", "history", "library", "machine", "parameters", "schema")
    }
    assert told["format"] == 5
    assert told["library"] == mvrbm.__version__
    assert not {"n_threads", "verbose"} & set(told["parameters"])


def test_arrays_of_numbers_keep_their_width_and_names(tmp_path):
    array = np.random.default_rng(0).standard_normal((40, 3))
    MVRBM(2, max_epochs=2).fit(array).save(tmp_path / "m.mvrbm")
    loaded = mvrbm.load(tmp_path / "m.mvrbm")
    with pytest.raises(ValueError, match="X has 2 features, but MVRBM is expecting 3"):
        loaded.transform(array[:, :2])
    named = pd.DataFrame(array, columns=list("abc"))
    MVRBM(2, max_epochs=2).fit(named).save(tmp_path / "m.mvrbm")
    assert list(mvrbm.load(tmp_path / "m.mvrbm").feature_names_in_) == ["a", "b", "c"]


@pytest.mark.parametrize("settings", [{"recipe": "paper"}, {"n_hidden": 0}, {"random_state": np.random.RandomState(0)}])
def test_other_models(survey, tmp_path, settings):
    frame, schema, _ = survey
    model = MVRBM(**{"n_hidden": 3, "schema": schema, "max_epochs": 2, "random_state": 0, **settings}).fit(frame)
    model.save(tmp_path / "m.mvrbm")
    loaded = mvrbm.load(tmp_path / "m.mvrbm")
    assert loaded.random_state == (0 if "random_state" not in settings else None)
    pd.testing.assert_frame_equal(loaded.complete(frame), model.complete(frame))


def test_a_schema_with_codes_labels_and_an_order_that_is_not_sorted(tmp_path):
    frame = pd.DataFrame({"b": [3, 1, 2, 3] * 9, "z": [1, 0, 1, 0] * 9, "a": [0, 1, 1, 0] * 9, "x": [1.5, 2, 3, 4] * 9})
    schema = Schema(
        [
            Ordinal("b", values=[3, 1, 2], labels={1: "one", 2: "two", 3: "<b>&\u2028"}, missing=[-1]),
            Multicategorical("m", columns={2: "z", 1: "a"}, asked_if={"b": [3, 1]}, label='"\\'),
            Continuous("x", low=0.1, high=1e9),
        ],
        ignore=["k"],
    )
    model = MVRBM(2, schema=schema, max_epochs=1, random_state=0).fit(frame)
    model.save(tmp_path / "m.mvrbm")
    loaded = mvrbm.load(tmp_path / "m.mvrbm")
    assert loaded.schema_ == model.schema_
    assert loaded.schema == schema
    assert loaded.schema_["m"].values == [2, 1]
    assert loaded.schema_["b"].labels == {1: "one", 2: "two", 3: "<b>&\u2028"}


def test_nothing_is_saved_before_fit(survey, tmp_path):
    with pytest.raises(NotFittedError):
        MVRBM(schema=survey[1]).save(tmp_path / "m.mvrbm")
    assert list(tmp_path.iterdir()) == []


def rewritten(path, change):
    """The file with its content changed, and its digest put right: only what does not fit can be wrong with it."""
    state, told = load_file(path), header_of(path)
    change(told, state)
    told.pop("digest", None)
    path.write_bytes(save(state, {KEY: json.dumps(told | {"digest": _digest(told, state)}, sort_keys=True)}))


def put(name, value):
    def change(told, state):
        *parts, last = name.split("/")
        for part in parts:
            told = told[int(part) if part.isdigit() else part]
        told[int(last) if last.isdigit() else last] = value

    return change


def array(name, change):
    def changed(told, state):
        state[name] = np.ascontiguousarray(change(state[name]))

    return changed


def with_one(value):
    def change(a):
        a = a.copy()
        a.flat[0] = value
        return a

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("format", 6), "it is of format 6, written by mvrbm .*: install a newer mvrbm"),
        (put("format", "1"), "its header does not say 'format' as it should"),
        (put("format", 0), "there is no format 0"),
        (put("estimator", "Oracle"), "a model of the class 'Oracle', which this version of mvrbm does not have"),
        (put("parameters/magic", 1), "its parameter 'magic' is none of the class 'MVRBM'"),
        (put("parameters/n_hidden", 7), "its parameters say 7 hidden units and its arrays 6"),
        (put("fitted/evil_", 1), "it tells 'evil_', which a model of the class 'MVRBM' does not have"),
        (put("history/evil", 1), "its training history tells 'evil'"),
        (put("machine", {}), "does not say 'paper'"),
        (put("machine", [1]), "does not say 'machine'"),
        (put("schema/questions/0/kind", "magic"), "its schema makes no sense: question 'binary_1': unknown kind"),
        (put("schema/questions", []), "its schema makes no sense: a schema needs at least one question"),
        (put("schema/questions/7/values", ["a", "b"]), "the array 'W' has the shape"),
        (put("schema/questions/0/values", None), "does not tell the values of question 'binary_1'"),
        (lambda told, state: told["schema"]["questions"].pop(), "the array 'visible.counts' has the shape"),
        (lambda told, state: state.pop("U"), "the array 'U' is missing"),
        (lambda told, state: state.pop("visible.multicategorical.threshold"), "threshold' is missing"),
        (array("links.rows", lambda a: a + 10**6), "its links join what cannot be joined"),
        (array("links.columns", lambda a: -a - 1), "its links join what cannot be joined"),
        (array("patterns", lambda a: a[:, 1:]), "the array 'patterns' has the shape"),
        (lambda told, state: state.pop("links"), "has the shape|belongs to nothing"),
        (lambda told, state: state.update(extra=np.zeros(3)), "the array 'extra' belongs to nothing"),
        (
            array("W", lambda a: a[:, :-1]),
            "its parameters say 6 hidden units and its arrays 5|the array 'R' has the shape",
        ),
        (array("W", lambda a: a[:-1]), "the array 'W' has the shape"),
        (array("W", with_one(np.nan)), "the array 'W' holds a number that is not finite"),
        (array("base", with_one(np.inf)), "the array 'base' holds a number that is not finite"),
        (array("visible.moments", with_one(np.nan)), "'visible.moments' holds a number that is not finite"),
        (array("visible.counts", with_one(-1.0)), "below 0"),
        (array("visible.steps", lambda a: a[:, :, ::-1]), "the steps of a number do not rise"),
        (array("visible.steps", lambda a: a + 1), "the steps of a number do not rise"),
        (array("visible.steps", lambda a: a[:, :1]), "the array 'visible.steps' has the shape"),
        (array("visible.heights", lambda a: a + 1), "a step of a number is lower than 0 or higher than 1"),
        (array("visible.heights", lambda a: a[:, :1]), "the array 'visible.heights' has the shape"),
        (array("w", lambda a: a.astype(np.float64)), "the array 'w' holds float64, not float32"),
        (array("w", lambda a: a.astype(np.int32)), "the array 'w' holds int32, not float32"),
        (array("U", lambda a: a[:, None]), "the array 'U' has the shape"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(saved, change, words):
    rewritten(saved, change)
    with pytest.raises(ValueError, match=words) as caught:
        mvrbm.load(saved)
    assert str(caught.value).startswith(f"{saved}: ")
    assert "\n" not in str(caught.value)


def test_a_truncated_file_is_refused(saved, tmp_path):
    whole = saved.read_bytes()
    for n in [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1]:
        (tmp_path / "part.mvrbm").write_bytes(whole[:n])
        with pytest.raises(ValueError, match="it is no model file, or not a whole one"):
            mvrbm.load(tmp_path / "part.mvrbm")
    (tmp_path / "more.mvrbm").write_bytes(whole + b"\0")
    with pytest.raises(ValueError, match="it is no model file, or not a whole one"):
        mvrbm.load(tmp_path / "more.mvrbm")


def test_any_changed_byte_is_found_out(saved, tmp_path):
    whole = saved.read_bytes()
    random = np.random.default_rng(0)
    for place in random.integers(0, len(whole), 150):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(random.integers(8))
        (tmp_path / "broken.mvrbm").write_bytes(bytes(broken))
        with pytest.raises(ValueError, match="cannot be loaded"):
            mvrbm.load(tmp_path / "broken.mvrbm")


@pytest.mark.parametrize(
    "content",
    [
        b"hello, this is no model",
        b"\xff" * 64,
        struct.pack("<Q", 2**62) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        save({"a": np.zeros(2)}, {}),
        save({"a": np.zeros(2)}, {KEY: "[1, 2]"}),
        save({"a": np.zeros(2)}, {KEY: "{"}),
        save({"a": np.zeros(2)}, {KEY: "[" * 100_000}),
        save({"a": np.zeros(2)}, {KEY: '{"a": {"array": [1], "dtype": "V99999999999"}}'}),
    ],
)
def test_what_is_no_model_file_is_refused(tmp_path, content):
    (tmp_path / "m.mvrbm").write_bytes(content)
    with pytest.raises(ValueError, match="it is no model file"):
        mvrbm.load(tmp_path / "m.mvrbm")


def test_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path / "m.mvrbm", tmp_path):
        with pytest.raises(FileNotFoundError, match="is no file; check the name and the folder"):
            mvrbm.load(path)


def test_plain_data_and_arrays_come_back_as_they_were(tmp_path):
    data = {
        "list": [1, 2.5, "x", None, True, -0.0],
        "infinite": [np.inf, -np.inf],
        "texts": np.array(["b", "a"]),
        "objects": np.array(["b", 1], dtype=object),
        "flags": np.array([True, False]),
        "numbers": np.array([1, 2]),
        "number": np.float64(0.1),
    }
    write_arrays(tmp_path / "f", data, {"none": np.zeros((2, 0), np.float32)})
    found, stored = read_arrays(tmp_path / "f", "file")
    assert stored.take("none", (2, 0), np.float32).shape == (2, 0)
    stored.all_taken()
    assert found["list"] == data["list"]
    assert found["infinite"] == data["infinite"]
    for name in ("texts", "objects", "flags", "numbers"):
        np.testing.assert_array_equal(found[name], data[name])
        assert found[name].dtype.kind == data[name].dtype.kind
    with pytest.raises(TypeError, match="has no place in a file of plain data"):
        write_arrays(tmp_path / "f", {"a": object()}, {})


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_a_file_of_each_format_still_loads(version, tmp_path):
    """Written once by tests/write_fixture.py; never to be written again. What is loaded can be saved by today's."""
    mvrbm.load(DATA / f"format-{version}.mvrbm").save(tmp_path / "again.mvrbm")
    loaded = mvrbm.load(tmp_path / "again.mvrbm")
    expected = json.loads((DATA / f"format-{version}.json").read_text())
    found = json.loads(json.dumps(write_fixture.answers(loaded)))
    np.testing.assert_allclose(found.pop("vectors"), expected.pop("vectors"), rtol=1e-4)
    for value, chances in expected.pop("chances").items():
        np.testing.assert_allclose(found["chances"][value], chances, rtol=1e-4)
    del found["chances"]
    assert found == expected
    assert loaded.schema_["country"].labels == {1: "Peru", 2: "Fiji"}


def test_predictors_are_saved_too(survey, tmp_path):
    frame, schema, _ = survey
    names = schema.names[:2]
    X, y = np.random.default_rng(0).standard_normal((60, 3)), np.array(["a", "b", "c"] * 20)
    fitted = [
        (mvrbm.MVRBMPredictor(names, schema=schema, max_epochs=2, random_state=0).fit(frame), frame),
        (mvrbm.MVRBMPredictor(0, method="features", max_epochs=2, random_state=0).fit(X), X),
        (mvrbm.MVRBMClassifier(max_epochs=2, random_state=0).fit(X, y), X),
        (mvrbm.MVRBMRegressor(max_epochs=2, random_state=0).fit(X, X[:, 0]), X),
    ]
    for n, (model, table) in enumerate(fitted):
        model.save(tmp_path / f"{n}.mvrbm")
        loaded = mvrbm.load(tmp_path / f"{n}.mvrbm")
        assert type(loaded) is type(model)
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(np.asarray(loaded.predict(table)), np.asarray(model.predict(table)))
    np.testing.assert_array_equal(mvrbm.load(tmp_path / "2.mvrbm").predict_proba(X), fitted[2][0].predict_proba(X))


def test_machines_without_pairs_are_read_as_machines_whose_pairs_say_nothing():
    """What format 1 stored of machines with links, told and others: a machine whose parameters of pairs are 0."""
    rbm, other = (machine("mixture", seed=seed, told=True, linked=True) for seed in (0, 1))
    visible = rbm.visible
    kept = ~visible.for_hidden_units
    assert not kept.all()
    ends = np.concatenate([kept, np.ones(visible.n_questions + 1, bool)])
    lasting = kept[rbm.links.rows] & ends[rbm.links.columns]
    number = np.cumsum(ends) - 1
    narrow = rbm.state() | {"links.rows": number[rbm.links.rows[lasting]]}
    narrow["links.columns"] = number[rbm.links.columns[lasting]]
    for one in (rbm, other):
        one.parameters.joint[: len(kept)][~kept] = 0
        one.parameters.links[~lasting] = 0
        one.refresh()
    rbm.others = [other]
    narrow |= {"U": rbm.parameters.U[kept], "W": rbm.parameters.W[kept], "links": rbm.parameters.links[lasting]}
    p = other.parameters
    narrow["others.0"] = np.concatenate([p.joint[ends].ravel(), p.base, p.links[lasting]])
    stored = Stored(narrow)
    again = RBM.restored(visible.questions, stored, version=1)
    stored.all_taken()
    for before, after in ((rbm, again), (other, again.others[0])):
        np.testing.assert_array_equal(after.parameters.joint, before.parameters.joint)
        np.testing.assert_array_equal(after.parameters.base, before.parameters.base)
        np.testing.assert_array_equal(after.parameters.links, before.parameters.links[lasting])
    np.testing.assert_array_equal(again.links.rows, rbm.links.rows[lasting])
    np.testing.assert_array_equal(again.links.columns, rbm.links.columns[lasting])


def padded(rbm, other):
    """The state of two machines as of format 4, and where the rows of their matrices stand in it.

    Every number had as many features as the one with the most steps.
    """
    assert np.diff([*rbm.visible.feature_start, rbm.visible.n_features]).tolist() == [8, 16]
    place = np.array([*range(8), *range(16, 35)])  # then the questions answered or not, and a one
    state, rng = rbm.state(), np.random.default_rng(0)
    for name, one in (("", rbm), ("others.0", other)):
        p, joint = one.parameters, rng.standard_normal((35, rbm.n_hidden + 1))
        joint[place] = p.joint
        whole = np.concatenate([joint.ravel(), p.base, p.links])
        state |= {name: whole} if name else {"U": joint[:32, -1], "W": joint[:32, :-1]}
    return state | {f"links.{end}": place[getattr(rbm.links, end)] for end in ("rows", "columns")}, place


def test_machines_whose_numbers_had_features_for_steps_of_others_are_read_without_them():
    rbm, other = (machine("continuous", seed=seed, told=True, linked=True) for seed in (0, 1))
    state, _ = padded(rbm, other)
    stored = Stored(dict(state))
    again = RBM.restored(rbm.visible.questions, stored, version=4)
    stored.all_taken()
    for before, after in ((rbm, again), (other, again.others[0])):
        np.testing.assert_array_equal(after.parameters.vector, before.parameters.vector)
        assert after.parameters.shape == before.parameters.shape
    np.testing.assert_array_equal(again.links.rows, rbm.links.rows)
    np.testing.assert_array_equal(again.links.columns, rbm.links.columns)
    for end in ("links.rows", "links.columns"):
        gone = state | {end: np.concatenate([[8], state[end][1:]])}
        with pytest.raises(ValueError, match="its links join what cannot be joined"):
            RBM.restored(rbm.visible.questions, Stored(gone), version=4)
    with pytest.raises(ValueError, match="the array 'W' has the shape"):
        RBM.restored(rbm.visible.questions, Stored(dict(state)), version=5)


def test_in_format_3_steps_that_a_number_does_not_have_say_that_it_is_answered():
    """They were as high as all others, and -1/2 for who answers: their weights were learnt, and have to be read."""
    rbm, other = (machine("continuous", seed=seed, told=True, linked=True) for seed in (0, 1))
    state, place = padded(rbm, other)
    del state["visible.heights"]
    again = RBM.restored(rbm.visible.questions, Stored(dict(state)), version=3)
    np.testing.assert_array_equal(again.parameters.W, state["W"])
    np.testing.assert_array_equal(again.links.rows, place[rbm.links.rows])
    answers = random_answers(rbm.visible.questions, 50, 0, missing=0.5)
    x = again.features(again.visible.load(answers, np.arange(50)))
    there = ~np.isnan(answers.numbers[:, 0])
    assert 10 < there.sum() < 40
    np.testing.assert_array_equal(x[8:16], np.where(there, -0.5, 0.0)[None].repeat(8, axis=0))
    stored = Stored(again.state())
    once_more = RBM.restored(rbm.visible.questions, stored, version=5)  # as it is saved now
    stored.all_taken()
    np.testing.assert_array_equal(once_more.parameters.vector, again.parameters.vector)
