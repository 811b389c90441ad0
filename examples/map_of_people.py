"""A map of people, and what its regions mean.

The code of docs/map-of-people.md, which tells what it does and shows what it prints.
"""

from mvrbm import MVRBM, read_table, write_table
from mvrbm.demo import survey

frame, questions = survey()
write_table(frame, "survey.csv", questions)  # a file as you would have one; its schema goes into survey.schema.yaml

people, schema = read_table("survey.csv")
print(f"{len(people):,} people, {len(schema)} questions, {people.isna().mean().mean():.0%} of the cells blank")

model = MVRBM(n_hidden=50, schema=schema, n_models=1, random_state=0).fit(people)
vectors = model.transform(people)  # P(h = 1 | answers) of each hidden unit
print(vectors.shape)

from mvrbm.report import map_svg, people_map

places = people_map(model, people)  # t-SNE of the vectors: two numbers a person
map_svg(model, people, "map.svg", question="polviews", positions=places)

import pandas as pd
from sklearn.cluster import KMeans

group = KMeans(4, n_init=10, random_state=0).fit_predict(vectors)
mean_age = people["age"].groupby(group).mean().sort_values()
region = pd.Series(group, people.index).map(dict(zip(mean_age.index, "ABCD")))  # A has the youngest people

choices = [question.name for question in schema if question.kind in ("binary", "categorical")]
choices += [question.name for question in schema if question.kind == "ordinal" and question.n_values <= 7]


def shares(some):
    """How often each answer is given among those who answer the question."""
    return pd.concat({name: some[name].value_counts(normalize=True) for name in choices})


everyone = shares(people)
for name, own in people.groupby(region):
    here = shares(own)
    print(f"{name}: {len(own) / len(people):.0%} of the people, {own['age'].mean():.0f} years old on average")
    for question, answer in here.sub(everyone).nlargest(5).index:
        words = f"{schema[question].label}: {answer}"
        print(f"   {here[question, answer]:.0%} (everyone: {everyone[question, answer]:.0%})  {words}")

from sklearn.metrics import adjusted_rand_score

second = MVRBM(n_hidden=50, schema=schema, n_models=1, random_state=1).fit(people).transform(people)
again = KMeans(4, n_init=10, random_state=0).fit_predict(second)
print(f"adjusted Rand index: {adjusted_rand_score(group, again):.1f}")
