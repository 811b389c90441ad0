"""Use an installed mvrbm as a newcomer would: import it, fit a small table, look at the result, run its command."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np

import mvrbm
from mvrbm.datasets import make_survey
from mvrbm.report import write_report

assert "site-packages" in mvrbm.__file__, mvrbm.__file__
assert files("mvrbm").joinpath("py.typed").is_file(), "py.typed is not in the wheel"
frame, schema = make_survey(300, random_state=0)
model = mvrbm.MVRBM(n_hidden=5, schema=schema, max_epochs=2, random_state=0).fit(frame)
features = model.transform(frame)
assert features.shape == (300, 5), features.shape
assert np.isfinite(features).all()
assert features.std() > 0
frame.to_csv("survey.csv", index=False)
command = Path(sys.executable).with_name("mvrbm")
for job in ("fit survey.csv -o m.mvrbm --n-hidden 5 --max-epochs 2", "complete m.mvrbm survey.csv -o filled.parquet"):
    subprocess.run([command, *job.split(), "--quiet"], check=True)
assert not mvrbm.read_table("filled.parquet")[0].isna().to_numpy().any()
write_report(model, frame, "report.html")
assert "</html>" in Path("report.html").read_text(encoding="utf-8"), "the report needs its style and script"
print(f"mvrbm {mvrbm.__version__} from its wheel: imports, fits, reports, is typed, has its command")
