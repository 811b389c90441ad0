"""What each command does: files in, the estimator's own methods, files out."""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mvrbm
from mvrbm.cli.options import settings_of
from mvrbm.estimators import MVRBM
from mvrbm.evaluation import evaluate as evaluation
from mvrbm.evaluation import table_of_errors
from mvrbm.files import ending_of, keeps_labels, read_table, schema_beside, write_table
from mvrbm.parts import Parts, too_large
from mvrbm.progress import Step, tell
from mvrbm.schema import Schema
from mvrbm.whole import target_of

if TYPE_CHECKING:
    import pandas as pd

Args = argparse.Namespace


def say(args: Args, *lines: str) -> None:
    """Print what was done, unless nobody wants to know."""
    if lines and not args.quiet:
        print(*lines, sep="\n", file=sys.stderr, flush=True)


def schema(args: Args) -> None:
    """Show how a table is read."""
    overrule = dict(_pair(each, "--overrule") for each in args.overrule)
    guide: dict[str, Any] = {"overrule": overrule or None, "missing": [_value(code) for code in args.missing]}
    guide["counts"] = args.counts
    if too_large(args.data):
        found = Schema.infer(Parts.of(args.data).head(), **guide)
    else:
        _, found = read_table(args.data, **guide)
    if args.output is None:
        print(found)
        return
    _apart([args.output], args.data)
    found.to_yaml(args.output)
    by_itself = _schema_beside(args.data)
    found_by = "fit finds it" if by_itself.exists() else f"give it to fit as --schema, or name it {by_itself.name}"
    say(args, f"{args.output}: {len(found)} questions, to read and edit; {found_by}")


def fit(args: Args) -> None:
    """Learn a model."""
    target_of(args.output)
    _apart([args.output], args.data, *([args.schema] if args.schema else []))
    found: Schema | None
    if args.dask or too_large(args.data):
        frame, found, people = args.data, _schema_for(args), Parts.of(args.data).n_rows
    else:
        frame, found = read_table(args.data, args.schema)
        people = len(frame)
    say(args, f"{args.data}: {people:,} people" + (f", {len(found)} questions" if found else ""))
    begun = time.perf_counter()
    model = _fitter(args, found).fit(frame, checkpoint=args.checkpoint)
    history = model.history_
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    model.save(args.output)
    took = f"{len(history.epochs)} epochs in {time.perf_counter() - begun:.1f} s"
    say(args, f"{args.output}: {took}, the model is of epoch {history.best_epoch}; ended by {history.stopped}")


def _fitter(args: Args, found: Schema | None) -> MVRBM:
    settings = settings_of(args, MVRBM)
    if args.dask is None:
        return MVRBM(schema=found, **settings)
    try:
        from mvrbm.dask import DaskMVRBM
    except ImportError as error:
        raise ValueError(f"--dask needs more than is installed ({error}); pip install 'mvrbm[dask]'") from None
    return DaskMVRBM(schema=found, client=args.dask, **settings)


def complete(args: Args) -> None:
    """Fill the blanks of a table."""
    if too_large(args.data):
        if args.flags or args.draws or args.bootstrap:
            raise ValueError(
                f"{args.data} is read a part at a time, which --flags, --draws and --bootstrap are not for"
            )
        model = _model(args, "complete")
        _stream(args, lambda frame: model.complete(frame, args.questions), model.schema_)
        return
    targets = [args.output] if args.draws is None else [_numbered(args.output, n + 1) for n in range(args.draws)]
    written = [*targets, *([args.flags] if args.flags else [])]
    for target in written:
        _table_target(target)
    _apart(written, args.model, args.data)
    model, frame = _model_and_table(args, "complete")
    given = {"questions": args.questions, "draws": args.draws, "random_state": args.random_state}
    found = model.complete(frame, flags=bool(args.flags), bootstrap=args.bootstrap, **given)
    found, flags = found if args.flags else (found, None)
    for table, target in zip(found if args.draws else [found], targets, strict=True):
        _write(args, table, target, model)
    if flags is not None:  # after the table: there are no flags of one that could not be written
        _write(args, flags.assign(value=flags["value"].astype(str)), args.flags)


def transform(args: Args) -> None:
    """Turn people into vectors."""
    import pandas as pd

    model = _model(args, "transform")

    def vectors(frame: pd.DataFrame) -> pd.DataFrame:
        own = pd.DataFrame(model.transform(frame), columns=list(model.get_feature_names_out()))
        return _beside(args, frame, own)

    _each(args, model, vectors)


def reconstruct(args: Args) -> None:
    """Say every answer as the vectors say it."""
    _table_target(args.output)
    _apart([args.output], args.model)
    model, frame = _model_and_table(args, "reconstruct")
    _write(args, model.reconstruct(frame), args.output, model)


def predict(args: Args) -> None:
    """Predict a question, or all of them."""
    import pandas as pd

    model = _model(args, "predict")
    if args.target is not None and args.target not in getattr(model, "targets_", [args.target]):
        raise ValueError(f"{args.model} was trained to predict {' and '.join(model.targets_)}, not {args.target!r}")
    method = model.predict_proba if args.proba else model.predict
    asks = "question" in inspect.signature(method).parameters  # a model trained for one target need not be told

    def predicted(frame: pd.DataFrame) -> pd.DataFrame:
        found = method(frame, args.target) if asks else method(frame)
        if not hasattr(found, "columns"):
            own = model.schema_[args.target if asks else model.targets_[0]].columns
            found = pd.DataFrame(found, columns=model.classes_ if found.ndim == 2 else own)
        return _beside(args, frame, found.reset_index(drop=True).rename(columns=str))

    _each(args, model, predicted)


def sample(args: Args) -> None:
    """Make up people."""
    _table_target(args.output)
    model = _model(args, "sample")
    given = {name: _value(cell) for name, cell in (_pair(each, "--given") for each in args.given)}
    _write(args, model.sample(args.n_samples, given=given, random_state=args.random_state), args.output, model)


def evaluate(args: Args) -> None:
    """Hide answers and tell how well they are found again."""
    if args.output:
        _table_target(args.output)
    frame, found = read_table(args.data, args.schema)
    options = {"share": args.hide, "compare": args.compare, "by_question": args.by_question}
    errors = evaluation(frame, found, **options, **settings_of(args, MVRBM))
    print(table_of_errors(errors))
    if args.output:
        _write(args, errors.reset_index(names="question" if args.by_question else "kind"), args.output)


def report(args: Args) -> None:
    """Write a page about a model and its table."""
    from mvrbm.report import write_report

    target_of(args.output)
    _apart([args.output], args.model, args.data)
    model, frame = _model_and_table(args, "complete")
    write_report(model, frame, args.output, progress=lambda what, share: tell(Step(what, int(100 * share), 100, "%")))
    say(args, f"{args.output}: open it in a browser")


def study(args: Args) -> None:
    """Run the paper's case study."""
    from mvrbm.study import run_study

    frame, found = read_table(args.data, args.schema) if args.data else (None, None)
    recipes = {"recipes": args.recipe} if args.recipe else {}

    def heard(done: int, of: int, what: str) -> None:
        say(args, f"[{done:3}/{of}] {what}")

    run_study(frame, found, args.output, quick=args.quick, progress=heard, **recipes)
    print((Path(args.output) / "tables.md").read_text(encoding="utf-8"))
    say(args, f"{args.output}: the tables, the figures and results.json")


def demo(args: Args) -> None:
    """Show all of it on a real survey."""
    from mvrbm.demo import run

    run(Path(args.output))


def _model(args: Args, job: str) -> Any:
    """The model of a file, once it is known to do this job."""
    model = mvrbm.load(args.model)
    if not hasattr(model, job):
        raise ValueError(f"{args.model} is a {type(model).__name__}, which only predicts its target; use mvrbm predict")
    return model


def _model_and_table(args: Args, job: str) -> tuple[Any, pd.DataFrame]:
    model = _model(args, job)
    frame, _ = read_table(args.data, model.schema_)
    return model, frame


def _each(args: Args, model: Any, job: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Write what a job makes of a table, at once or a part at a time."""
    if too_large(args.data):
        _stream(args, job)
        return
    _table_target(args.output)
    _apart([args.output], args.model)
    frame, _ = read_table(args.data, model.schema_)
    _write(args, job(frame), args.output)


def _stream(args: Args, job: Callable[[pd.DataFrame], pd.DataFrame], schema: Schema | None = None) -> None:
    _apart([args.output], args.model)
    parts = Parts.of(args.data)
    files = parts.written(args.output, job, schema)
    say(args, f"{args.output}: {parts.n_rows:,} rows in {len(files)} file{'s' if len(files) > 1 else ''}")


def _schema_for(args: Args) -> Schema | None:
    """The schema of a table that is read a part at a time: the one named, or the one beside it."""
    path = Path(args.schema) if args.schema else _schema_beside(args.data)
    return Schema.from_yaml(path) if args.schema or path.is_file() else None


def _schema_beside(data: str) -> Path:
    """The YAML file beside a table; a folder's has the name of the folder."""
    path = Path(data)
    return path.with_name(path.name + ".schema.yaml") if path.is_dir() else schema_beside(path)


def _apart(outputs: list[str], *inputs: str) -> None:
    """Refuse to write over what is read, or two things to one place."""
    read = {Path(path).resolve() for path in inputs}
    for place, path in enumerate(outputs):
        if Path(path).resolve() in read:
            raise ValueError(f"{path} is also what is read; give the output another name")
        if path in outputs[:place]:
            raise ValueError(f"{path} is named for two outputs; give one of them another name")


def _table_target(path: str) -> None:
    """Refuse, before any work is done, a place or an ending to which no table can be written."""
    target_of(path)
    ending_of(Path(path))


def _beside(args: Args, frame: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Put columns of the table that are to be kept before what was found."""
    import pandas as pd

    keep = [name for name in args.keep if name not in found]  # what is found stands for itself
    lacking = [name for name in keep if name not in frame]
    if lacking:
        raise ValueError(f"--keep names {lacking[0]!r}, but {args.data} has no such column")
    together: pd.DataFrame = pd.concat([frame[keep].reset_index(drop=True), found], axis=1)
    return together


def _write(args: Args, frame: pd.DataFrame, path: str, model: Any = None) -> None:
    """Write a table; an SPSS or Stata file gets the labels of the model's schema."""
    there = model is not None and keeps_labels(Path(path)) and set(model.schema_.columns) <= set(frame.columns)
    files = write_table(frame, path, _schema_of(frame, model.schema_) if there else None)
    say(args, f"{files[0]}: {len(frame):,} rows, {frame.shape[1]} columns")
    say(args, *(f"{file}: the schema" for file in files[1:]))


def _schema_of(frame: pd.DataFrame, whole: Schema) -> Schema:
    """The schema without columns that the table lacks, as made-up people lack a weight."""
    weight = whole.weight if whole.weight in frame else None
    return Schema(list(whole), [name for name in whole.ignore if name in frame], weight)


def _numbered(path: str, number: int) -> str:
    ending = ending_of(Path(path))
    return f"{path[: -len(ending)]}-{number}{ending}"


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"{option} takes NAME=VALUE, not {text!r}")
    return name, value


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
