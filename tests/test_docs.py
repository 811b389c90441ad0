"""What the documents show is run, and what they name is there."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import yaml

import mvrbm
import pages
from mvrbm import Schema
from mvrbm.units.block import Block
from mvrbm.units.question import Question

ROOT = Path(__file__).parents[1]
PAGES = [*pages.PAGES, "CONTRIBUTING.md"]
RUN = [page for page in PAGES if {block.language for block in pages.blocks(page)} & set(pages.RUNNERS)]


def _tables(names):
    assert names["schema"] == Schema.from_yaml("survey.schema.yaml")
    assert Path("copy.sav").exists()
    assert [question.kind for question in names["shown"]][-1] == "ranking"
    assert names["shown"]["seen_any"].values == ["no", "yes"]


def _model_file(names):
    np.testing.assert_array_equal(*(names[which].transform(names["frame"]) for which in ("model", "same")))
    text = (ROOT / "docs/model-file.md").read_text()
    assert all(f"`{array}`" in text for array in names["model"].rbm_.state())


def test_the_page_on_types_names_all_that_must_be_written():
    text = (ROOT / "docs/adding-a-type.md").read_text()
    assert all(f"`{name}`" in text for name in Block.__abstractmethods__ | Question.__abstractmethods__)


def _readme(names):
    vectors = names["model"].transform(names["frame"])
    assert vectors.shape == (4, 2)
    assert np.isfinite(vectors).all()
    assert all(Path(f"{name}.csv").exists() for name in ("filled-cells", "vectors", "chances", "made-up"))


def _map(names):
    assert Path("map.svg").read_bytes().startswith(b"<svg")


MORE = {
    "README.md": _readme,
    "docs/tables.md": _tables,
    "docs/model-file.md": _model_file,
    "docs/map-of-people.md": _map,
}
"""What else must be so once a page has run."""


@pytest.mark.parametrize("page", RUN)
def test_what_a_page_shows_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages.FILES.get(page, list)()
    names = {}
    for block, printed in pages.run(page, names):
        told = f"{page} shows\n{block.text}but what it shows prints\n{printed}"
        assert pages.about_the_same(block.text, printed), f"{told}\n(python tests/pages.py {page} writes it anew)"
    MORE.get(page, len)(names)


@pytest.mark.parametrize("page", pages.EXAMPLES)
def test_an_example_is_what_its_page_shows(page):
    assert (ROOT / pages.EXAMPLES[page]).read_text() == pages.script(page), f"python tests/pages.py {page} writes it"
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == {Path(p).name for p in pages.EXAMPLES.values()}


@pytest.mark.parametrize("page", PAGES)
def test_no_code_stands_where_it_is_not_run(page):
    outside = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"^    (mvrbm \w+ |from \w+ import|import \w|>>>)", outside, re.MULTILINE)
    assert {block.language for block in pages.blocks(page)} <= {*pages.RUNNERS, "text", "{toctree}", "{eval-rst}"}


def test_outputs_may_differ_a_little_and_no_more():
    more = "e\nf\ng\nh\ni\n"
    shown = "error 22%\nlog-loss 0.585\na b\nc\nd\n"
    assert pages.about_the_same(shown, "error  23%\nlog-loss 0.583\na b\nc\nd\n")
    assert pages.about_the_same(shown, "error 22%\nlog-loss 0.585\na b\nd\nc\n")  # another order
    assert pages.about_the_same(shown + more, "error 22%\nlog-loss 0.585\na b\nc\nx\n" + more)  # one line in ten
    assert not pages.about_the_same(shown, "error 22%\nlog-loss 0.585\na b\nc\nx\n")
    assert not pages.about_the_same(shown + more, "error 22%\nlog-loss 0.585\na b\nx\ny\n" + more)
    assert not pages.about_the_same(shown, "error 22%\nlog-loss 0.585\na b\nc\n")
    assert not pages.about_the_same("error 22%", "error 32%")
    assert not pages.about_the_same("yes", "no")
    assert not pages.about_the_same("", "1\n")


def test_the_reference_has_every_public_name():
    told = re.findall(r"auto(?:class|function):: mvrbm\.(\w+)$", (ROOT / "docs/api.md").read_text(), re.MULTILINE)
    assert set(mvrbm.__all__) == set(told)


def test_the_citation_is_of_this_version():
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(told)
    assert told["version"] == project["version"] == mvrbm.__version__
    assert told["license"] == project["license"]
    (paper,) = told["references"]
    assert [author["family-names"] for author in paper["authors"]] == ["Tran", "Phung", "Venkatesh"]


@pytest.mark.parametrize("page", PAGES)
def test_files_and_commands_that_a_page_names_exist(page):
    text = (ROOT / page).read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"`?make ([a-z][a-z-]+)`?", text):
        assert target in ("it",) or re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", text):
        assert link.startswith("https://") or (ROOT / page).parent.joinpath(link).exists(), link
    for path in re.findall(r"`((?:src|tests|docs|examples|benchmarks|units|kernels|training)/[\w/.-]+)`", text):
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
