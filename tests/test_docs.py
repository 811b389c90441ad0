"""What the documents show is run, and what they name is there."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mvrbm import Binary, Continuous, Schema, write_table
from mvrbm.units.block import Block
from mvrbm.units.question import Question

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/design-notes.md",
    "docs/tables.md",
    "docs/model-file.md",
    "docs/case-study.md",
    "docs/adding-a-type.md",
]


def run(page: str) -> dict[str, object]:
    """Run what a page shows, block after block."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    return names


def test_the_page_on_tables_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = {"sex": [1, 2, 2] * 20, "age": [30.5, 41, 52] * 20}
    given = Schema([Binary("sex", values=[1, 2], labels={1: "m", 2: "f"}), Continuous("age")])
    assert write_table(pd.DataFrame(answers), "survey.sav", given) == [Path("survey.sav")]
    assert run("docs/tables.md")["schema"] == Schema.from_yaml("survey.schema.yaml")
    assert Path("copy.sav").exists()
    (shown,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/tables.md").read_text(), re.DOTALL)
    Path("shown.yaml").write_text(shown)
    schema = Schema.from_yaml("shown.yaml")
    assert [question.kind for question in schema][-1] == "ranking"
    assert schema["seen_any"].values == ["no", "yes"]


def test_the_page_on_the_model_file_runs_and_names_every_array(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run("docs/model-file.md")
    np.testing.assert_array_equal(*(names[which].transform(names["frame"]) for which in ("model", "same")))
    text = (ROOT / "docs/model-file.md").read_text()
    assert all(f"`{array}`" in text for array in names["model"].rbm_.state())


def test_the_page_on_types_names_all_that_must_be_written():
    text = (ROOT / "docs/adding-a-type.md").read_text()
    assert all(f"`{name}`" in text for name in Block.__abstractmethods__ | Question.__abstractmethods__)


def test_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run("README.md")
    vectors = names["model"].transform(names["frame"])
    assert vectors.shape == (4, 2)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("page", PAGES)
def test_files_and_commands_that_a_page_names_exist(page):
    text = (ROOT / page).read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`?make ([a-z][a-z-]+)`?", text):
        assert target in ("it",) or re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert link.startswith("https://") or (ROOT / page).parent.joinpath(link).exists(), link
    for path in re.findall(r"`((?:src|tests|docs|benchmarks|units|kernels|training)/[\w/.-]+)`", text):
        assert any((base / path).exists() for base in (ROOT, ROOT / "src/mvrbm")), path


def test_rooms_import_only_rooms_above_them():
    """The map in CONTRIBUTING.md is the order of imports."""
    table = (ROOT / "CONTRIBUTING.md").read_text().split("| room |")[1].split("## Adding")[0]
    rooms = [
        set(re.findall(r"`(\w+)(?:\.py|/)`", row.split("|")[1])) for row in table.splitlines() if row.count("|") > 2
    ]
    level = {room: n for n, row in enumerate(rooms) for room in row}
    package = ROOT / "src/mvrbm"
    for path in package.rglob("*.py"):
        own = path.relative_to(package).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        code = path.read_text().split("if TYPE_CHECKING:\n    from mvrbm")[0]
        imported = re.findall(r"^from mvrbm\.(\w+)", path.read_text(), re.MULTILINE)
        imported += re.findall(r"\w+", ",".join(re.findall(r"^from mvrbm import (.*)", code, re.MULTILINE)))
        for other in imported:
            assert level[other] <= level[own], f"{path.name} imports {other}, which is below it on the map"
    assert {p.stem for p in package.glob("*.py")} - {"__init__"} <= set(level)
