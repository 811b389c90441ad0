"""`python -m mvrbm.study`: the paper's case study by one command."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mvrbm.files import read_table
from mvrbm.study import RECIPES, run_study


def say(done: int, of: int, what: str) -> None:
    """A line for each cell of the grid."""
    print(f"[{done:3}/{of}] {what}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, run the study, and tell where its results are."""
    parser = argparse.ArgumentParser(prog="mvrbm study", description="The paper's three experiments and its map.")
    parser.add_argument("data", nargs="?", help="a table; without one, a made survey in the shape of the paper's")
    parser.add_argument("--schema", help="the questions of the table, a YAML file")
    parser.add_argument("-o", "--out", default="study", help="the folder for the results (study)")
    parser.add_argument("--recipe", choices=RECIPES, action="append", help="only this recipe")
    parser.add_argument("--quick", action="store_true", help="a small version")
    given = parser.parse_args(arguments)
    data, schema = read_table(given.data, given.schema) if given.data else (None, None)
    run_study(data, schema, given.out, recipes=given.recipe or RECIPES, quick=given.quick, progress=say)
    print((Path(given.out) / "tables.md").read_text(encoding="utf-8"))
    print(f"Tables, figures and results.json are in {given.out}.", file=sys.stderr)


if __name__ == "__main__":
    main()
