"""What the documents show is run, and what they name is there."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "docs/design-notes.md"]


def test_the_readme_runs():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
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
        assert (ROOT / page).parent.joinpath(link).exists(), link
    for path in re.findall(r"`((?:src|tests|docs|benchmarks|units|kernels|training)/[\w/.-]+)`", text):
        assert any((base / path).exists() for base in (ROOT, ROOT / "src/mvrbm")), path
