"""Use an installed mvrbm as a newcomer would: import it, fit a small table, look at the result."""

from importlib.resources import files

import numpy as np

import mvrbm
from mvrbm.datasets import make_survey

assert "site-packages" in mvrbm.__file__, mvrbm.__file__
assert files("mvrbm").joinpath("py.typed").is_file(), "py.typed is not in the wheel"
frame, schema = make_survey(300, random_state=0)
features = mvrbm.MVRBM(n_hidden=5, schema=schema, max_epochs=2, random_state=0).fit(frame).transform(frame)
assert features.shape == (300, 5), features.shape
assert np.isfinite(features).all()
assert features.std() > 0
print(f"mvrbm {mvrbm.__version__} from its wheel: imports, fits, is typed")
