"""The command line: `mvrbm` and `python -m mvrbm`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import mvrbm
from mvrbm.cli import commands
from mvrbm.cli.bar import Bar
from mvrbm.cli.options import add_settings
from mvrbm.estimators import MVRBM
from mvrbm.progress import heard_by

TABLES = ".csv, .tsv (also .gz), .parquet, .feather, .sav, .zsav or .dta"
FOLDERS = "; or a folder of .parquet files, which like a large one is read a part at a time"
EXAMPLES = {
    "schema": "mvrbm schema survey.csv --missing -1 --overrule q7=categorical -o survey.schema.yaml",
    "fit": "mvrbm fit survey.sav -o survey.mvrbm --n-hidden 50 --random-state 0 --checkpoint run",
    "complete": "mvrbm complete survey.mvrbm survey.sav -o filled.sav --flags filled-cells.csv",
    "transform": "mvrbm transform survey.mvrbm survey.parquet -o vectors.parquet --keep id",
    "reconstruct": "mvrbm reconstruct survey.mvrbm survey.csv -o as-the-model-sees-them.csv",
    "predict": "mvrbm predict survey.mvrbm new-people.csv --target q7 --proba -o chances.csv",
    "sample": "mvrbm sample survey.mvrbm --n-samples 1000 --given country=Peru --random-state 0 -o made-up.csv",
    "evaluate": "mvrbm evaluate survey.csv --hide 0.2 --compare",
    "report": "mvrbm report survey.mvrbm survey.sav -o report.html",
    "study": "mvrbm study survey.sav -o study --quick",
    "demo": "mvrbm demo -o mvrbm-demo",
}
"""One real call of each command; a test parses them, another runs them."""


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="mvrbm", description=mvrbm.__doc__, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"mvrbm {mvrbm.__version__}")
    all_ = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, job: Callable[[argparse.Namespace], None], what: str, *places: str) -> argparse.ArgumentParser:
        command = all_.add_parser(
            name,
            help=what,
            description=f"{what[0].upper()}{what[1:]}.",
            epilog=f"example:\n  {EXAMPLES[name]}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.set_defaults(job=job)
        own = FOLDERS if name in ("schema", "fit", "complete", "transform", "predict") else ""
        for place in places:
            told = "the file that `mvrbm fit` wrote" if place == "model" else f"the table: {TABLES}{own}"
            command.add_argument(place, metavar=place.upper(), help=told)
        command.add_argument("--quiet", action="store_true", help="say nothing but what was asked for")
        command.add_argument("--debug", action="store_true", help="show where an error came from")
        return command

    def output(command: argparse.ArgumentParser, what: str, **told: Any) -> None:
        command.add_argument("-o", "--output", metavar="OUT", help=what, **{"required": True, **told})

    table = f"the table to write: {TABLES}"
    parts = "; of a folder, the folder to write"
    read_by = "the schema to read the table by (YAML); else the one beside it, or a guess"
    kept = "columns of the table to put beside it"
    own_schema: dict[str, Any] = {"metavar": "FILE", "help": read_by}
    keep: dict[str, Any] = {"metavar": "COLUMN", "nargs": "+", "default": [], "help": kept}
    seed: dict[str, Any] = {"type": int, "default": 0, "metavar": "N", "help": "the seed of random draws [0]"}

    c = add("schema", commands.schema, "show how a table is read: its questions, and why", "data")
    output(c, "a YAML file to read and edit; without it the schema is printed", required=False)
    c.add_argument("--missing", metavar="CODE", nargs="+", default=[], help="codes that mean blank wherever they occur")
    overrule = "what you know better: a kind, ignore or weight"
    c.add_argument("--overrule", metavar="COLUMN=KIND", nargs="+", default=[], help=overrule)
    c.add_argument("--counts", action="store_true", help="take small whole numbers from 0 on, mostly low, as counts")

    c = add("fit", commands.fit, "learn a model of a table", "data")
    output(c, "the model file to write (.mvrbm)")
    c.add_argument("--schema", **own_schema)
    going = "save training there as it goes; run again, it goes on and ends where an undisturbed run ends"
    c.add_argument("--checkpoint", metavar="DIR", help=going)
    dask = "train on a Dask cluster: the address of its scheduler, or local for processes of this machine"
    c.add_argument("--dask", metavar="ADDRESS", help=dask)
    add_settings(c, MVRBM)

    c = add("complete", commands.complete, "fill the blanks of a table", "model", "data")
    output(c, table + parts)
    c.add_argument("--questions", metavar="Q", nargs="+", help="fill only these")
    c.add_argument("--flags", metavar="FILE", help="also write which cells were filled, and how sure each is")
    draws = "write M tables OUT-1, OUT-2, ... of joint random draws instead, for multiple imputation"
    c.add_argument("--draws", metavar="M", type=int, help=draws)
    bootstrap = (
        "each draw by a machine refitted on a bootstrap of DATA, the table learnt from: pooled intervals are honest"
    )
    c.add_argument("--bootstrap", action="store_true", help=bootstrap)
    c.add_argument("--random-state", **seed)

    c = add("transform", commands.transform, "turn each person into a vector of numbers", "model", "data")
    output(c, table + parts)
    c.add_argument("--keep", **keep)

    c = add("reconstruct", commands.reconstruct, "say every answer as the person's vector says it", "model", "data")
    output(c, table)

    c = add("predict", commands.predict, "predict a question from whatever else each person answers", "model", "data")
    output(c, table + parts)
    c.add_argument("--target", metavar="Q", help="the question; without it, every one")
    c.add_argument("--proba", action="store_true", help="the probability of each answer instead of the best one")
    c.add_argument("--keep", **keep)

    c = add("sample", commands.sample, "make up people who answer as the model expects", "model")
    output(c, table)
    c.add_argument("--n-samples", type=int, default=1000, metavar="N", help="how many [1000]")
    c.add_argument("--given", metavar="COLUMN=CELL", nargs="+", default=[], help="answers that all of them give")
    c.add_argument("--random-state", **seed)

    c = add("evaluate", commands.evaluate, "hide answers, and tell how well they are found again", "data")
    output(c, f"also write the errors to a table: {TABLES}", required=False)
    c.add_argument("--schema", **own_schema)
    c.add_argument("--hide", type=float, default=0.2, metavar="SHARE", help="of each person's answers to hide [0.2]")
    compare = "beside scikit-learn's KNNImputer, IterativeImputer and HistGradientBoosting; takes some minutes"
    c.add_argument("--compare", action="store_true", help=compare)
    c.add_argument("--by-question", action="store_true", help="the error of each question")
    add_settings(c, MVRBM)

    c = add("report", commands.report, "write a page about a model and its table", "model", "data")
    output(c, "the page to write (.html)")

    c = add("study", commands.study, "run the paper's three experiments and its map")
    c.add_argument(
        "data", metavar="DATA", nargs="?", help="the table; without it, one made in the shape of the paper's"
    )
    output(
        c, "the folder for tables, figures and results; run again, it goes on [study]", required=False, default="study"
    )
    c.add_argument("--schema", **own_schema)
    c.add_argument("--recipe", choices=("paper", "default"), action="append", help="only this recipe [both]")
    c.add_argument("--quick", action="store_true", help="a small version, in minutes")

    c = add("demo", commands.demo, "do all of this on a real survey, in a folder")
    output(c, "the folder [mvrbm-demo]", required=False, default="mvrbm-demo")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it did its job, 1 with one sentence if it could not, 2 for wrong use, 130 after Ctrl-C."""
    args = parser().parse_args(arguments)
    bar = Bar()
    ended = signal.signal(signal.SIGTERM, _end) if _main_thread() else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = lambda said, *_: _note(bar, str(said), args.quiet)
            if args.quiet:
                args.job(args)
            else:
                with heard_by(bar):
                    args.job(args)
        return 0
    except KeyboardInterrupt:
        bar.clear()
        print("mvrbm: stopped; files that were there are as they were", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        bar.clear()
        if args.debug:
            traceback.print_exc()
        print(f"mvrbm: {_sentence(error)}", file=sys.stderr)
        return 1
    finally:
        bar.clear()
        if ended is not None:
            signal.signal(signal.SIGTERM, ended)


def _main_thread() -> bool:
    import threading

    return threading.current_thread() is threading.main_thread()


def _end(number: int, frame: object) -> None:
    """Leave as Ctrl-C does, so that half-written files are removed."""
    raise SystemExit(128 + number)


def _note(bar: Bar, said: str, quiet: bool) -> None:
    bar.clear()
    if not quiet:
        print(f"note: {said}", file=sys.stderr)


def _sentence(error: Exception) -> str:
    """Say an error in one line; one that nobody foresaw says so."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        text = f"a file could not be written or read: {error.strerror}"
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        text = "there is not enough memory for this table"
    foreseen = isinstance(error, (ValueError, TypeError, OSError, MemoryError, KeyError, RuntimeError))
    return text if text and foreseen else f"something unforeseen ({type(error).__name__}: {text}); --debug shows where"
