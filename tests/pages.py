"""The pages of the guide: the code that they show, what it prints, and the scripts in examples/ that they are made of.

A page is run block by block, in order, in one namespace and one empty folder:

- ```python is run;
- ```sh: a line that begins with `mvrbm` is run as the command line would; `make` must name a target; the lines that
  set up a machine (`pip`, `export`) are not run;
- ```text after one of these is what it printed: its words, and its numbers about so (they come from training, whose
  last bits are those of the processor);
- ```yaml that begins with `questions:` is read as a schema.

`python tests/pages.py` runs every page and writes what was printed into it, and the scripts into examples/.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
EXAMPLES = {
    "docs/map-of-people.md": "examples/map_of_people.py",
    "docs/filling-blanks.md": "examples/filling_blanks.py",
    "docs/predicting.md": "examples/predicting.py",
}
"""The pages of the three jobs, each of which is a script, too."""
NOT_RUN = ("pip ", "export ", "#")
_FENCE = re.compile(r"^```([\w{}-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")


@dataclass
class Block:
    """A fenced block of a page: what it is, its text, and where the text stands."""

    language: str
    text: str
    start: int
    stop: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = _FENCE.finditer((ROOT / page).read_text())
    return [Block(match[1], match[2], match.start(2), match.end(2)) for match in found]


def run(page: str, names: dict[str, Any]) -> Iterator[tuple[Block, str]]:
    """Run a page in the current folder; each ```text block comes with what was printed before it."""
    printed = ""
    for block in blocks(page):
        if block.language == "text":
            yield block, printed
        runner = RUNNERS.get(block.language)
        printed = runner(block.text, f"{page}, the block {block.text.splitlines()[0]!r}", names) if runner else ""


def _python(text: str, where: str, names: dict[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, where, "exec"), names)
    return out.getvalue()


def _shell(text: str, where: str, names: dict[str, Any]) -> str:
    from mvrbm import cli

    makefile = (ROOT / "Makefile").read_text()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["mvrbm"]:
                assert cli.main(words[1:]) == 0, f"{where}: {line} failed"
            elif words[:1] == ["make"]:
                assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), f"{where}: there is no {line}"
            else:
                assert not words or line.startswith(NOT_RUN), f"{where}: {line} is neither run nor known"
    return out.getvalue()


def _yaml(text: str, where: str, names: dict[str, Any]) -> str:
    from mvrbm import Schema

    if text.startswith("questions:"):
        Path("shown.yaml").write_text(text)
        names["shown"] = Schema.from_yaml("shown.yaml")
        Path("shown.yaml").unlink()
    return ""


RUNNERS: dict[str, Callable[[str, str, dict[str, Any]], str]] = {"python": _python, "sh": _shell, "yaml": _yaml}


def about_the_same(shown: str, printed: str) -> bool:
    """Whether two outputs have the same lines, but for one in ten: elsewhere another answer may come out on top."""
    left = printed.splitlines()
    lines = shown.splitlines()
    for line in lines:
        same = next((other for other in left if _same_line(line, other)), None)
        if same is not None:
            left.remove(same)
    return len(lines) == len(printed.splitlines()) and len(left) <= len(lines) // 10


def _same_line(shown: str, printed: str) -> bool:
    """Whether two lines have the same words, and numbers that differ by a few units of the last digit or per cent."""
    if _NUMBER.sub("#", shown).split() != _NUMBER.sub("#", printed).split():
        return False
    return all(map(_near, _NUMBER.findall(shown), _NUMBER.findall(printed)))


def _near(shown: str, printed: str) -> bool:
    ours, theirs = (float(number.replace(",", "")) for number in (shown, printed))
    unit = 10.0 ** -len(shown.partition(".")[2].partition("e")[0])
    return abs(ours - theirs) <= max(3 * unit, 0.1 * abs(theirs))


def script(page: str) -> str:
    """The script that a page shows in parts."""
    title = re.search(r"^# (.*)", (ROOT / page).read_text(), re.MULTILINE)
    assert title
    told = f'"""{title[1]}.\n\nThe code of {page}, which tells what it does and shows what it prints.\n"""\n\n'
    return told + "\n".join(block.text for block in blocks(page) if block.language == "python")


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """Work in a folder, then go back."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main(pages: list[str]) -> None:
    """Write what each page prints into it, and the scripts into examples/."""
    for page in pages:
        with tempfile.TemporaryDirectory() as folder, in_folder(Path(folder)), warnings.catch_warnings():
            warnings.simplefilter("error")
            FILES.get(page, list)()
            told = list(run(page, {}))
        text = (ROOT / page).read_text()
        for block, printed in reversed(told):
            if printed and not about_the_same(block.text, printed):  # some were printed by commands that take long
                lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
                text = text[: block.start] + lines + text[block.stop :]
        (ROOT / page).write_text(text)
        if page in EXAMPLES:
            (ROOT / EXAMPLES[page]).write_text(script(page))
        print(f"{page}: {len(told)} outputs", flush=True)


def _small_survey() -> None:
    """What README.md calls your own file."""
    import numpy as np
    import pandas as pd

    from mvrbm import Binary, Categorical, Continuous, Schema, write_table

    random = np.random.default_rng(0)
    q7 = random.integers(1, 4, 80)
    frame = pd.DataFrame({"sex": random.integers(1, 3, 80), "q7": q7, "age": 20.5 + 10 * q7 + random.normal(size=80)})
    frame.loc[::9, "age"] = np.nan
    sex = Binary("sex", values=[1, 2], labels={1: "male", 2: "female"})
    write_table(frame, "survey.sav", Schema([sex, Categorical("q7", values=[1, 2, 3]), Continuous("age")]))


def _part_of_the_demo() -> None:
    """What docs/five-minutes.md calls your own file."""
    from mvrbm import write_table
    from mvrbm.demo import survey

    write_table(survey()[0].head(200), "my-survey.csv")


FILES: dict[str, Callable[[], Any]] = {
    "README.md": _small_survey,
    "docs/tables.md": _small_survey,
    "docs/five-minutes.md": _part_of_the_demo,
}
"""What makes the file that a page calls yours, where it does not make one itself."""

if __name__ == "__main__":
    main(sys.argv[1:] or PAGES)
