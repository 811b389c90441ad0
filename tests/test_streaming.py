"""Tables larger than memory: the same model as from memory, bit for bit, and nothing left behind."""

import os
import tempfile
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mvrbm
from mvrbm import MVRBM, Categorical, Continuous, Multicategorical, Ranking, Schema, answers, compact, parts
from mvrbm.answers import Answers, Patched
from mvrbm.datasets import make_survey
from mvrbm.encoding import encode
from mvrbm.training import engine

FRAME, SCHEMA = make_survey(900, random_state=4, missing=0.2)
FRAME = FRAME.assign(w=np.random.default_rng(0).integers(0, 3, len(FRAME)) * 1.5)
SCHEMA = Schema(list(SCHEMA), weight="w")


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that a table of a few hundred people has many pools and spans, more than are held."""
    for module in (answers, compact, engine):
        monkeypatch.setattr(module, "BLOCK", 8, raising=False)
    for module in (answers, engine):
        monkeypatch.setattr(module, "POOL", 4)
    monkeypatch.setattr(compact, "_SLOTS", 8)
    monkeypatch.setattr(answers, "SPAN", 32)
    monkeypatch.setattr(parts, "AT_ONCE", 50)


@pytest.fixture
def scratch(monkeypatch, tmp_path):
    """The folder into which temporary things go; empty again when all is done."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def in_files(folder, frame=FRAME, cuts=(0, 130, 131, 700)):
    """The rows of a table in a few files of different sizes."""
    folder.mkdir(exist_ok=True)
    for number, (start, stop) in enumerate(zip(cuts, [*cuts[1:], len(frame)], strict=True)):
        pq.write_table(pa.Table.from_pandas(frame.iloc[start:stop], preserve_index=False), folder / f"{number}.parquet")
    return folder


def model(**settings):
    return MVRBM(**{"n_hidden": 5, "schema": SCHEMA, "max_epochs": 3, "refit_epochs": 1, "random_state": 0} | settings)


def content(fitted, folder):
    fitted.save(folder / "m.mvrbm")
    return (folder / "m.mvrbm").read_bytes()


@pytest.mark.parametrize(
    "settings",
    [{"n_models": 2}, {"objective": "cd"}, {"objective": "pcd", "n_chains": 20}, {"recipe": "paper", "max_epochs": 2}],
    ids=str,
)
def test_the_model_of_files_and_of_frames_is_that_of_memory(small_blocks, scratch, tmp_path, settings):
    folder = in_files(tmp_path / "parts")
    memory = content(model(**settings).fit(FRAME), tmp_path)
    assert content(model(**settings).fit(folder), tmp_path) == memory
    if settings.get("objective") == "cd":
        frames = (FRAME.iloc[start : start + 200] for start in range(0, len(FRAME), 200))
        assert content(model(**settings).fit(frames), tmp_path) == memory
        assert content(model(**settings).fit(str(folder / "*.parquet")), tmp_path) == memory
        whole = in_files(tmp_path / "whole", cuts=(0,))
        assert content(model(**settings).fit(whole / "0.parquet"), tmp_path) == memory


def test_blocks_of_the_usual_size(scratch, tmp_path):
    """More rows than two pools hold, so that blocks make room for others, and spans as they are."""
    frame, schema = make_survey(300, random_state=1)
    many = pd.concat([frame] * 480, ignore_index=True)  # 144,000 rows
    told = {"schema": schema, "max_epochs": 1, "n_models": 1, "refit_epochs": 0, "batch_size": 4096, "n_hidden": 2}
    memory, streamed = (model(**told).fit(X) for X in (many, in_files(tmp_path / "parts", many, (0, 100_000))))
    np.testing.assert_array_equal(streamed.rbm_.parameters.vector, memory.rbm_.parameters.vector)
    assert streamed.history_ == memory.history_


def test_rows_of_files_are_those_of_memory(small_blocks, tmp_path):
    own = encode(FRAME, SCHEMA)
    writer = compact.Writer(tmp_path)
    for start in range(0, own.n_rows, 123):
        writer.add(own.take(slice(start, start + 123)))
    random = np.random.default_rng(0)
    with writer.filed() as filed:
        some = np.sort(random.permutation(own.n_rows)[:40])
        instead = Answers(own.codes[some][::-1].copy(), own.numbers[some][::-1].copy())
        pairs = [(filed, own), (Patched(filed, some, instead), Patched(own, some, instead))]
        for found, expected in pairs:
            for n in (1, 5, 30, 300, 900):  # within a few blocks, and more than are held
                rows = random.integers(0, own.n_rows, n) if n > 30 else random.integers(200, 240, n)
                same_answers(found.take(rows), expected.take(rows))
            for start in random.permutation(850).tolist():  # blocks come, make room for others and come back
                rows = random.integers(start, start + 50, 9)
                same_answers(found.take(rows), expected.take(rows))
            same_answers(found.loaded(), expected.loaded())
            same_answers(found.span(10, 77), expected.span(10, 77))
    patched = Patched(own, some, instead).loaded()
    same_answers(patched.take(some), instead)
    untouched = np.setdiff1d(np.arange(own.n_rows), some)
    same_answers(patched.take(untouched), own.take(untouched))


def same_answers(a, b):
    np.testing.assert_array_equal(a.codes, b.codes)
    np.testing.assert_array_equal(a.numbers, b.numbers)


def test_what_is_learnt_of_a_table_is_learnt_of_its_parts(monkeypatch, tmp_path):
    """Values, ticks, separators: of every form that leaves them out, whatever part they stand in."""
    monkeypatch.setattr(parts, "AT_ONCE", 3)
    random = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "country": random.choice([*"abcdef", None], n),
            "code": random.choice([1, 2, 7], n),
            "age": random.normal(size=n),
            "work": random.choice([1.0, np.nan], n),
            "crime": random.choice([1.0, np.nan], n),
            "one": (ticks := random.choice([1.0, np.nan], n)),
            "same": ticks,
            "said_a": random.choice(["A", None], n),
            "said_b": random.choice(["B", None], n),
            "hobbies": random.choice(["chess;go", "go", "", "tea", None], n),
            "lists": [list(random.choice(["x", "y", "z"], random.integers(0, 3))) for _ in range(n)],
            "order": random.choice(["a>b=c", "c>a", None], n),
            "first": random.choice(["k", "l"], n),
            "second": random.choice(["m", None], n),
            "all different": [f"v{row}" for row in range(n)],
        }
    )
    schema = Schema(
        [
            Categorical("country"),
            mvrbm.Ordinal("code"),
            Continuous("age"),
            Multicategorical("problems", columns={"Work": "work", "Crime": "crime"}),
            Multicategorical("alike", columns={"One": "one", "Same": "same"}),
            Multicategorical("said", columns={"A": "said_a", "B": "said_b"}),
            Multicategorical("hobbies", column="hobbies", separator=";"),
            Multicategorical("lists", column="lists", separator=";"),
            Ranking("order", column="order", separator=">"),
            Ranking("choices", choices=["first", "second"]),
            Categorical("all different"),
        ]
    )
    whole = schema.learn(frame)
    folder = in_files(tmp_path / "parts", frame, (0, 1, 20))
    found = parts.Parts.of(folder)
    assert found.learnt(schema) == whole
    assert found.learnt(whole) == whole.learn(frame)
    for question in schema:  # each by its own rows alone
        cells = {column: frame[column].to_numpy(dtype=object) for column in question.columns}
        rows = question.telling(cells)
        assert question.learn({column: own[rows] for column, own in cells.items()}) == question.learn(cells)
    monkeypatch.setattr(parts.Parts, "head", lambda self: frame)
    assert found.learnt(None) == Schema.infer(frame).learn(frame)


WRONG = {
    "corrupt": (lambda file: file.write_bytes(file.read_bytes()[:500]), "cannot be read as Parquet"),
    "empty file": (lambda file: file.write_bytes(b""), "cannot be read as Parquet"),
    "no rows": (lambda file: pq.write_table(pq.read_table(file).slice(0, 0), file), "it has no rows; leave it out"),
    "a column less": (lambda file: rewrite(file, lambda f: f.drop(columns=f.columns[3])), "it has no column"),
    "a column more": (lambda file: rewrite(file, lambda f: f.assign(more=1)), "it has a column 'more'"),
    "another type": (lambda file: rewrite(file, lambda f: f.assign(w="1")), "column 'w' holds texts, but numbers in"),
    "a bad page": (lambda file: spoil(file), "cannot be read as Parquet"),
}


def rewrite(file, change):
    change(pd.read_parquet(file)).to_parquet(file)


def spoil(file):
    """Break what stands before the footer: only reading the rows shows it."""
    content = bytearray(file.read_bytes())
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[4:end] = os.urandom(end - 4)
    file.write_bytes(content)
    pq.read_metadata(file)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_part_is_named_before_training_starts(monkeypatch, scratch, tmp_path, wrong):
    folder = in_files(tmp_path / "parts")
    spoilt, said = WRONG[wrong]
    spoilt(folder / "2.parquet")
    monkeypatch.setattr(MVRBM, "_train_joint", lambda *_: pytest.fail("training started"))
    with pytest.raises(ValueError, match=said) as error:
        model().fit(folder)
    assert str(folder / "2.parquet") in str(error.value)
    assert "\n" not in str(error.value)


def test_a_wrong_cell_is_named_by_part_and_row(scratch, tmp_path, small_blocks):
    frame = FRAME.copy()
    name = next(q.name for q in SCHEMA if q.kind == "categorical")
    frame[name] = frame[name].astype(object)
    frame.loc[400, name] = "nobody"
    folder = in_files(tmp_path / "parts", frame)
    with pytest.raises(ValueError, match=rf"2\.parquet: question {name!r}: value 'nobody' \(row {400 - 131}\)"):
        model().fit(folder)
    frames = (frame.iloc[start : start + 300] for start in range(0, 900, 300))
    with pytest.raises(ValueError, match=rf"frame 1: question {name!r}: value 'nobody' \(row 100\)"):
        model().fit(frames)
    frame = FRAME.assign(w=FRAME["w"].where(FRAME.index != 800, -1))
    with pytest.raises(ValueError, match=r"3\.parquet: weight 'w': value -1 \(row 100\)"):
        model().fit(in_files(tmp_path / "weights", frame))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nothing.parquet", "does not exist"),
        ("empty", "the folder has no file that ends in .parquet"),
        ("a.csv", "only Parquet is read a part at a time"),
        (iter([]), "the iterator gave no frame"),
        (iter([FRAME.iloc[:0]]), "frame 0: it has no rows"),
    ],
    ids=str,
)
def test_what_is_no_table_in_parts_is_told(monkeypatch, scratch, tmp_path, given, said):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("a.csv").write_text("a\n1\n")
    with pytest.raises((ValueError, FileNotFoundError), match=said):
        model().fit(given)


def test_all_weights_zero_in_one_piece_but_not_in_all(scratch, tmp_path, small_blocks):
    frame = FRAME.assign(w=np.where(FRAME.index < 200, 0.0, FRAME["w"]))
    assert model(objective="cd").fit(in_files(tmp_path / "parts", frame)).history_.epochs
    with pytest.raises(ValueError, match="weight 'w': every weight is 0"):
        model().fit(in_files(tmp_path / "none", frame.assign(w=0.0)))
    own = np.arange(900) % 3
    given, memory = (model(objective="cd").fit(X, sample_weight=own) for X in (tmp_path / "parts", frame))
    np.testing.assert_array_equal(given.rbm_.parameters.vector, memory.rbm_.parameters.vector)
    with pytest.raises(ValueError, match="sample_weight must be 900 finite numbers"):
        model().fit(tmp_path / "parts", sample_weight=own[1:])


def test_a_run_on_files_goes_on_from_its_checkpoint(monkeypatch, scratch, tmp_path, small_blocks):
    folder = in_files(tmp_path / "parts")
    whole = content(model(objective="cd").fit(folder), tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(engine.TreeSum, "result", lambda self: (_ for _ in ()).throw(ZeroDivisionError))
        with pytest.raises(ZeroDivisionError):
            model(objective="cd").fit(folder, checkpoint=tmp_path / "run")
    assert content(model(objective="cd").fit(folder, checkpoint=tmp_path / "run"), tmp_path) == whole
    with pytest.raises(ValueError, match="other data"):
        model(objective="cd").fit(in_files(tmp_path / "other", FRAME[::-1]), checkpoint=tmp_path / "run")


def test_frames_of_an_iterator_are_let_go(scratch):
    """No more than one of them is in memory."""
    seen = []

    def frames():
        for start in range(0, 900, 100):
            frame = FRAME.iloc[start : start + 100].copy()
            seen.append(weakref.ref(frame))
            yield frame
            del frame
            assert sum(ref() is not None for ref in seen) <= 2

    model(objective="cd").fit(frames())
    assert len(seen) == 9


@pytest.fixture(scope="module")
def fitted():
    return model(objective="cd", max_epochs=2).fit(FRAME)


def read(folder):
    return pd.concat([pd.read_parquet(file) for file in sorted(folder.glob("*.parquet"))], ignore_index=True)


def test_what_is_written_part_by_part_is_what_memory_gives(monkeypatch, tmp_path, fitted):
    monkeypatch.setattr(parts, "AT_ONCE", 50)
    frame = FRAME.assign(who=[f"p{n}" for n in range(len(FRAME))])
    folder = in_files(tmp_path / "parts", frame)
    names = [f"{n}.parquet" for n in range(4)]
    files = fitted.complete(folder, output=tmp_path / "filled")
    assert [file.name for file in files] == names
    assert [pq.read_metadata(file).num_rows for file in files] == [130, 1, 569, 200]
    again = fitted.complete(read(folder))
    pd.testing.assert_frame_equal(read(tmp_path / "filled"), again, check_dtype=False, check_categorical=False)
    assert all(pq.read_schema(file) == pq.read_schema(files[0]) for file in files)
    fitted.transform(folder, output=tmp_path / "vectors")
    vectors = read(tmp_path / "vectors")
    np.testing.assert_array_equal(vectors.to_numpy(), fitted.transform(frame))
    assert list(vectors.columns) == list(fitted.get_feature_names_out())
    for question in (SCHEMA.names[0], None):
        fitted.predict(folder, question, output=tmp_path / f"said {question}")
        found = read(tmp_path / f"said {question}")
        expected = fitted.predict(read(folder), question)
        expected = expected if question is None else pd.DataFrame({question: expected})
        pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_categorical=False)
    fitted.predict_proba(folder / "2.parquet", SCHEMA.names[1], output=tmp_path / "chances.parquet")
    expected = fitted.predict_proba(frame.iloc[131:700].reset_index(drop=True), SCHEMA.names[1])
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "chances.parquet"), expected)
    filled = list(fitted.complete(frame.iloc[start : start + 450] for start in (0, 450)))
    pd.testing.assert_frame_equal(pd.concat(filled), fitted.complete(frame))
    assert len(list(fitted.transform(iter([FRAME])))) == 1


def test_columns_keep_their_types_unless_an_answer_may_be_a_fraction(monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "AT_ONCE", 20)
    random = np.random.default_rng(0)
    a = random.integers(0, 9, 200)
    frame = pd.DataFrame({"a": a, "b": a + random.integers(0, 2, 200), "c": random.choice(["x", "y", None], 200)})
    frame = frame.astype({"a": "Int64", "b": "Int16", "c": "category"})
    frame.loc[150:170, ["a", "b"]] = pd.NA
    schema = Schema([Continuous("a"), Continuous("b", integer=True), Categorical("c")])
    own = MVRBM(2, schema=schema, objective="cd", max_epochs=1, random_state=0).fit(frame)
    files = own.complete(in_files(tmp_path / "parts", frame, (0, 100)), output=tmp_path / "filled")
    kinds = [str(kind) for kind in pq.read_schema(files[0]).types]
    assert kinds[:2] == ["double", "int16"]
    assert kinds[2].startswith("dictionary")
    pd.testing.assert_frame_equal(read(tmp_path / "filled"), own.complete(frame), check_dtype=False)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (None, "output is not set"),
        ("parts", "is also what is read"),
        ("other", "has other files, such as x.parquet"),
        ("file", "is a file; there are 4 parts"),
    ],
)
def test_where_nothing_can_be_written(monkeypatch, tmp_path, fitted, output, said):
    monkeypatch.chdir(tmp_path)
    folder = in_files(Path("parts"))
    Path("other").mkdir()
    Path("other/x.parquet").write_bytes(b"mine")
    Path("file").write_bytes(b"mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=said):
        fitted.complete(folder, output=output)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    with pytest.raises(ValueError, match="flags, draws and bootstrap are for a table in memory"):
        fitted.complete(folder, output="out", draws=2)
    with pytest.raises(ValueError, match="leave output out"):
        fitted.transform(iter([FRAME]), output="out")


def test_a_part_that_fails_leaves_no_half_of_its_own(monkeypatch, tmp_path, fitted):
    monkeypatch.setattr(parts, "AT_ONCE", 50)
    folder = in_files(tmp_path / "parts")
    vectors, seen = fitted._vectors, []

    def later(frame):
        seen.append(len(frame))
        if len(seen) == 6:  # two whole parts are written, and the start of one
            raise ValueError("enough (row 7)")
        return vectors(frame)

    monkeypatch.setattr(fitted, "_vectors", later)
    with pytest.raises(ValueError, match=r"2\.parquet: enough \(row 57\)"):
        fitted.transform(folder, output=tmp_path / "vectors")
    assert seen == [50, 50, 30, 1, 50, 50]
    assert sorted(path.name for path in (tmp_path / "vectors").iterdir()) == ["0.parquet", "1.parquet"]
    spoil(folder / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: cannot be read as Parquet"):
        fitted.complete(folder, output=tmp_path / "filled")
    assert sorted(path.name for path in (tmp_path / "filled").iterdir()) == ["0.parquet", "1.parquet"]


def test_the_commands_take_a_folder_and_a_large_file(monkeypatch, tmp_path, capsys):
    from mvrbm.cli import main

    monkeypatch.chdir(tmp_path)
    in_files(Path("survey"))
    SCHEMA.to_yaml("survey.schema.yaml")
    small = ["--n-hidden", "3", "--objective", "cd", "--max-epochs", "1", "--quiet"]
    assert main(["fit", "survey", "-o", "m.mvrbm", *small]) == 0
    assert main(["fit", "survey", "-o", "n.mvrbm", "--schema", "survey.schema.yaml", *small]) == 0
    assert Path("m.mvrbm").read_bytes() == Path("n.mvrbm").read_bytes()
    own = mvrbm.load("m.mvrbm")
    assert main(["complete", "m.mvrbm", "survey", "-o", "filled"]) == 0
    assert "filled: 900 rows in 4 files" in capsys.readouterr().err
    whole = own.complete(read(Path("survey")))
    pd.testing.assert_frame_equal(read(Path("filled")), whole, check_dtype=False, check_categorical=False)
    assert main(["transform", "m.mvrbm", "survey", "-o", "vectors", "--keep", "w", "--quiet"]) == 0
    assert list(read(Path("vectors")).columns) == ["w", "mvrbm0", "mvrbm1", "mvrbm2"]
    monkeypatch.setattr(parts, "LARGE", 100)
    assert main(["predict", "m.mvrbm", "survey/2.parquet", "--target", "ordinal_1", "-o", "p.parquet", "--quiet"]) == 0
    assert len(pd.read_parquet("p.parquet")) == 569
    assert main(["predict", "m.mvrbm", "survey/2.parquet", "--target", "ordinal_1", "-o", "p.csv"]) == 1
    assert "is written as .parquet" in capsys.readouterr().err
    assert main(["complete", "m.mvrbm", "survey", "-o", "filled", "--draws", "2"]) == 1
    assert "--flags, --draws and --bootstrap are not for" in capsys.readouterr().err
    assert main(["schema", "survey"]) == 0
    assert "ordinal_1" in capsys.readouterr().out
