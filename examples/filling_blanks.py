"""Filled blanks, and a regression that knows they were filled.

The code of docs/filling-blanks.md, which tells what it does and shows what it prints.
"""

from mvrbm import MVRBM, pool, read_table, write_table
from mvrbm.demo import survey

frame, questions = survey()
write_table(frame, "survey.csv", questions)  # a file as you would have one

people, schema = read_table("survey.csv")
fields = [name for name in schema.names if name.startswith("nat")]
needed = [*fields, "polviews", "educ", "age", "sex"]
print(f"{people[needed].isna().mean().mean():.0%} of the cells needed are blank,")
print(f"but only {people[needed].notna().all(axis=1).mean():.0%} of the people answer all {len(needed)} questions")

model = MVRBM(n_hidden=50, schema=schema, random_state=0).fit(people)
filled, cells = model.complete(people, questions=needed, flags=True)
print(f"{len(cells):,} cells filled; {filled['rincom16'].isna().sum()} incomes are blank still")
print(cells.head(3).round(2).to_string(index=False))

draws = model.complete(people, questions=needed, draws=10, bootstrap=True, random_state=0)

import numpy as np
import pandas as pd

views = {words: place for place, words in enumerate(schema["polviews"].values, start=1)}


def regression(table):
    """Coefficients and their squared standard errors."""
    count = (table[fields] == "too little").sum(axis=1).to_numpy(float)
    X = pd.DataFrame(
        {
            "constant": 1.0,
            "conservative, 1 to 7": table["polviews"].map(views),
            "school, years": table["educ"],
            "age, decades": table["age"] / 10,
            "woman": table["sex"] == "female",
        }
    ).astype(float)
    slopes, squares, *_ = np.linalg.lstsq(X, count, rcond=None)
    variance = squares[0] / (len(X) - X.shape[1]) * np.linalg.inv(X.T @ X)
    return pd.Series(slopes, X.columns), pd.Series(np.diag(variance), X.columns)


estimates, variances = zip(*map(regression, draws))
pooled = pool(estimates, variances, complete_df=len(people) - 5)  # Rubin's rules
print(pooled.to_frame()[["estimate", "standard_error", "low", "high", "missing_information"]].round(2).to_string())

complete = people.dropna(subset=needed)
slopes, squares = regression(complete)
both = pd.DataFrame({"people left out": np.sqrt(squares), "draws pooled": pooled.standard_error})
print(f"standard errors, from {len(complete):,} and from {len(people):,} people")
print(both.round(3).to_string())
