"""The report: what it says is so, and nothing that a table holds can get out of its place."""

import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import sync_playwright

from examples import examples
from mvrbm import MVRBM, Binary, Categorical, Continuous, Count, Multicategorical, Ordinal, Ranking, Schema
from mvrbm.datasets import make_survey
from mvrbm.encoding import blocks, encode
from mvrbm.inference import chances, predict
from mvrbm.links import ANSWERED_GAIN
from mvrbm.metrics import binary_error, errors_by_question, ordinal_error
from mvrbm.report import charts, colours, findings, html, map_svg, people_map, shown, write_report
from mvrbm.report.places import places
from mvrbm.units import KINDS
from mvrbm.units.view import View

SETTINGS = {"n_hidden": 6, "max_epochs": 8, "random_state": 0}


@pytest.fixture(scope="module")
def made():
    frame, schema = make_survey(300, count=2, random_state=0)
    return MVRBM(schema=schema, **SETTINGS).fit(frame), frame


@pytest.fixture(scope="module")
def survey(made):
    return findings.Survey(*made)


# what a question tells of itself


def test_every_kind_says_what_it_is():
    assert len({kind.spoken for kind in KINDS}) == len(KINDS)
    assert all(kind.error_means for kind in KINDS)


TOLD = [
    (Binary("q", values=[0, 1], labels={1: "yes"}), [[0], [1], [-1]], ["0", "yes", ""]),
    (Categorical("q", values=["a", "b", "c"]), [[2], [-1]], ["c", ""]),
    (Ordinal("q", values=[1, 2], labels={1: "low", 2: "high"}), [[1], [0]], ["high", "low"]),
    (Continuous("q"), [[1234.5], [3.0], [0.0], [np.nan]], ["1,234.5", "3", "0", ""]),
    (Continuous("q", integer=True), [[40.2]], ["40"]),
    (Count("q", high=30, labels={0: "none"}), [[0], [12], [-1]], ["none", "12", ""]),
    (
        Multicategorical("q", columns={"a": "x", "b": "y"}, labels={"b": "Bee"}),
        [[1, 1], [0, 1], [0, 0], [-1, -1], [1, -1], [-1, 0]],
        ["a, Bee", "Bee", "nothing chosen", "", "a, Bee not known", "a not known"],
    ),
    (
        Ranking("q", ranks={"a": "x", "b": "y", "c": "z"}),
        [[0, 0, 0], [2, 2, 0], [1, 0, 0], [-1, -1, -1], [0, -1, -1]],
        ["a > b > c", "b > c > a", "a = b > c", "", "a > b"],
    ),
]


@pytest.mark.parametrize(("question", "block", "told"), TOLD, ids=lambda value: getattr(value, "kind", ""))
def test_answers_in_words(question, block, told):
    assert question.tell(np.array(block)) == told


def test_views_of_questions_with_one_answer():
    (view,) = Ordinal("q", values=[1, 2], labels={1: "low", 2: "high"}).views(np.array([[1], [-1]]))
    assert (view.of.tolist(), list(view.levels), view.ordered) == ([1, -1], ["low", "high"], True)
    assert not Categorical("q", values=["a", "b", "c"]).views(np.array([[1]]))[0].ordered
    (view,) = Count("q", high=30).views(np.array([[12], [-1]]))
    assert (view.of.tolist()[0], list(view.levels), view.ordered) == (12, [], True)
    (view,) = Continuous("q").views(np.array([[1.5], [np.nan]]))
    assert (view.of.tolist()[0], list(view.levels), view.ordered) == (1.5, [], True)


def test_views_of_questions_with_several_answers():
    number, a, _ = Multicategorical("q", columns={"a": "x", "b": "y"}).views(np.array([[1, 1], [0, 1], [-1, 1]]))
    assert (number.of.tolist(), list(number.levels), number.ordered) == ([2, 1, -1], ["0", "1", "2"], True)
    assert (a.title, a.of.tolist(), list(a.levels)) == ("a", [1, 0, -1], ["not chosen", "chosen"])
    ranking = Ranking("q", ranks={"a": "x", "b": "y", "c": "z"})
    first, place, *_ = ranking.views(np.array([[2, 2, 0], [1, 0, 0], [-1, -1, -1]]))
    assert [[*first.levels, "none"][level] for level in first.of] == ["b", "several share the first place", "none"]
    assert (place.title, place.of.tolist(), place.ordered) == ("place of a", [2, 0, -1], True)


def test_what_was_said_and_what_happened(made, survey):
    """Of each kind, against the table itself."""
    model, frame = made
    for place, (question, block) in enumerate(blocks(survey.answers, survey.schema)):
        names, p = chances(model.rbm_, survey.answers, place)
        said, happened = question.events(block, p)
        assert said.shape == happened.shape
        assert np.nanmin(said) >= 0
        assert np.nanmax(said) <= 1
        assert set(np.unique(happened[~np.isnan(happened)])) <= {0.0, 1.0}
        for row in range(40):
            cells = frame.iloc[row][question.columns]
            if cells.isna().all():
                assert np.isnan(happened[row]).all()
            elif len(names) == question.n_values and question.kind in ("binary", "categorical", "ordinal", "count"):
                assert [names[n] for n in np.flatnonzero(happened[row])] == [cells.iloc[0]]
            elif question.kind == "multicategorical":
                assert (happened[row] == cells.to_numpy(float)).all()
            elif question.kind == "ranking":
                ranks = cells.to_numpy(float)
                pairs = [[ranks[i] < ranks[j], ranks[j] < ranks[i]] for i, j in combinations(range(len(ranks)), 2)]
                assert happened[row].tolist() == np.array(pairs, float).ravel().tolist()
            else:
                below = [float(cells.iloc[0] < q) for q in p[row, 2:]] if question.kind == "count" else []
                assert happened[row].tolist() == below + [float(cells.iloc[0] <= q) for q in p[row, 2:]]


# colours


def test_rare_categories_share_a_colour_and_blanks_have_none():
    levels = [f"v{n}" for n in range(12)]
    view = View("", np.array([*range(12), -1]), levels)
    counts = np.array([*range(1, 13), 5])
    drawn = colours.coloured(view, levels, counts)
    assert drawn.names == ["v5", "v6", "v7", "v8", "v9", "v10", "v11", "5 others"]
    assert drawn.of == [7, 7, 7, 7, 7, 0, 1, 2, 3, 4, 5, 6, -1]
    assert len(drawn.colours) == len(set(drawn.colours)) == 8


def test_numbers_are_put_into_groups_of_about_the_same_size():
    numbers = np.array([30.0, 10, np.nan, 20, 50, 40])
    told = ["30", "10", "", "20", "50", "40"]
    drawn = colours.coloured(View("", numbers, ordered=True), told, np.array([1, 1, 9, 1, 1, 1]))
    assert drawn.names == ["10", "20", "30", "40", "50"]
    assert drawn.of == [2, 0, -1, 1, 4, 3]
    many = np.arange(100.0)
    drawn = colours.coloured(View("", many, ordered=True), [f"{n:.0f}" for n in many], np.ones(100, int))
    assert drawn.names == ["0 to 19", "20 to 39", "40 to 59", "60 to 79", "80 to 99"]


# what it finds


def test_errors_by_question_are_those_of_the_metrics(made, survey):
    model, frame = made
    guess = predict(model.rbm_, survey.answers, list(range(len(survey.schema))))
    found = errors_by_question(model.rbm_.visible, guess, survey.answers)
    assert set(found) == set(survey.schema.names)
    assert found["binary_1"] == pytest.approx(binary_error(frame["binary_1"], model.predict(frame, "binary_1")))
    own = model.predict(frame, "ordinal_2")
    values = survey.schema["ordinal_2"].values
    assert found["ordinal_2"] == pytest.approx(ordinal_error(frame["ordinal_2"], own, values=values))


def linked(rbm):
    """The weights of the direct links as a full matrix, (features, inputs)."""
    n = rbm.visible.n_features
    L = np.zeros((n, len(rbm.parameters.joint)))
    for weight, row, column in zip(rbm.parameters.links, rbm.links.rows, rbm.links.columns, strict=True):
        L[row, column] = weight if column < n else ANSWERED_GAIN * weight
        if column < n:
            L[column, row] = weight
    return L


def slow_strength(survey, i, j):
    """||Cov(E x_i, E x_j)|| / sqrt(||Var x_i|| ||Var x_j||), person by person, for two questions by their places."""
    rbm = survey.model.rbm_
    visible, p = rbm.visible, rbm.parameters
    ends = [*visible.feature_start[1:], visible.n_features]
    own = [slice(visible.feature_start[n], ends[n]) for n in (i, j)]
    expected = []
    X = rbm.features(visible.load(survey.answers, np.arange(survey.n_people)))
    L = linked(rbm)
    for vector, inputs in zip(survey.vectors, X.T, strict=True):
        z = (p.U + p.W @ vector + L @ inputs)[:, None].astype(np.float32)
        expected.append(visible.mean(z, rbm.theta, visible.decide(z, rbm.theta))[0][:, 0])
    expected = np.array(expected)
    chunk = visible.load(survey.answers, np.arange(survey.n_people))
    x, there = visible.features(chunk).T, visible.answered(chunk)
    shared = np.zeros((own[0].stop - own[0].start, own[1].stop - own[1].start))
    means = expected.mean(axis=0)
    for row in expected:
        shared += np.outer((row - means)[own[0]], (row - means)[own[1]]) / len(expected)
    size = [np.linalg.norm(np.cov(x[there[n]][:, own[k]].T, bias=True)) for k, n in enumerate((i, j))]
    return np.linalg.norm(shared) / np.sqrt(size[0] * size[1])


def test_what_goes_together_by_its_definition(survey):
    found = findings.together(survey)
    visible = survey.model.rbm_.visible
    place = {visible.questions[q].name: n for n, q in enumerate(visible.question_order)}
    names = [question.name for question in found.questions]
    assert sorted(names) == sorted(survey.schema.names)
    for pair in [*found.pairs[:3], found.pairs[-1]]:
        i, j = (place[question.name] for question in pair.questions)
        assert pair.strength == pytest.approx(slow_strength(survey, i, j), rel=1e-3)
        at = [names.index(question.name) for question in pair.questions]
        assert found.strength[at[0], at[1]] == pytest.approx(pair.strength)
    every = found.strength[np.triu_indices(len(names), 1)]
    strongest = sorted(every, reverse=True)[: len(found.pairs)]
    np.testing.assert_allclose([pair.strength for pair in found.pairs], strongest, rtol=1e-9)


def twins():
    """Two questions that always say the same, one that says the opposite, one of its own, and a twin number."""
    random = np.random.default_rng(1)
    a, own = random.integers(0, 2, 600), random.integers(0, 2, 600)
    number = 10 * a + random.normal(size=600)
    frame = pd.DataFrame({"own": own, "a": a, "twin": a, "opposite": 1 - a, "number": number})
    names = [Binary(name, values=[0, 1], labels={0: "no", 1: "yes"}) for name in ("own", "a", "twin", "opposite")]
    schema = Schema([*names, Continuous("number")])
    return MVRBM(4, schema=schema, max_epochs=60, random_state=0).fit(frame), frame


def test_twins_go_together_and_strangers_do_not():
    found = findings.together(findings.Survey(*twins()))
    strengths = {frozenset(q.name for q in pair.questions): pair for pair in found.pairs}
    assert strengths[frozenset({"a", "twin"})].strength > 0.6
    assert not strengths[frozenset({"a", "twin"})].against
    assert strengths[frozenset({"a", "opposite"})].against
    assert strengths[frozenset({"a", "own"})].strength < 0.2
    assert found.hub != "own"
    assert next(q.name for q in (found.questions[0], found.questions[-1]) if q.name == "own")  # at an end


def test_patterns_come_by_how_much_they_vary(survey):
    found = findings.patterns(survey)
    spreads = [pattern.spread for pattern in found]
    assert spreads == sorted(spreads, reverse=True)
    spread = survey.vectors.std(axis=0)
    assert found[0].name == f"mvrbm{spread.argmax()}"
    assert all(weight > 0 for pattern in found for _, _, weight in pattern.raises)
    assert all(weight < 0 for pattern in found for _, _, weight in pattern.lowers)


def test_blanks_are_counted_and_those_not_asked_set_apart():
    frame = pd.DataFrame(
        {
            "seen": ["no", "yes", "yes", "yes", None],
            "liked": [None, "no", None, "yes", None],
            "age": [1, 2, None, 4, 5.0],
        }
    )
    schema = Schema(
        [Binary("seen"), Binary("liked", asked_if={"seen": "yes"}), Continuous("age")],
    )
    model = MVRBM(2, schema=schema, max_epochs=2, random_state=0).fit(frame)
    found = findings.blanks(findings.Survey(model, frame))
    assert found.not_asked.tolist() == [0, 0.2, 0]
    assert found.unanswered.tolist() == [0.2, 0.4, 0.2]
    assert found.people_by_number.tolist() == [3, 0, 2]
    assert found.patterns == []  # no two people left the same blank


def test_sets_of_questions_left_blank_together():
    frame = pd.DataFrame({"a": [1, None, None, 2, 3.0], "b": [1, None, None, None, 2.0], "c": [1, 2, 3, 4, 5.0]})
    model = MVRBM(1, max_epochs=1, schema=Schema([Continuous(c) for c in frame]), random_state=0).fit(frame)
    assert findings.blanks(findings.Survey(model, frame)).patterns == [(2, ["a", "b"])]


# the map


def test_alike_people_stand_together():
    random = np.random.default_rng(0)
    group = np.repeat([0, 1], 100)
    vectors = np.clip(0.2 + 0.6 * group[:, None] + 0.05 * random.normal(size=(200, 5)), 0, 1).astype(np.float32)
    told = []
    found = places(vectors, 0, lambda what, share: told.append(share))
    assert (told[0], told[-1]) == (0, 1)
    assert told == sorted(told)
    distance = np.linalg.norm(found[:, None] - found[None], axis=2) + np.diag(np.full(200, np.inf))
    assert (group[distance.argmin(axis=1)] == group).mean() > 0.99
    assert np.array_equal(found, places(vectors))
    assert found[:, 0].std() >= found[:, 1].std()


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (9, 3), (10, 3), (40, 1)])
def test_few_people_and_one_pattern_have_places(shape):
    vectors = np.random.default_rng(0).random(shape).astype(np.float32)
    found = places(vectors)
    assert found.shape == (shape[0], 2)
    assert np.isfinite(found).all()


def test_people_who_are_all_the_same_have_places():
    assert np.isfinite(places(np.full((50, 4), 0.5, np.float32))).all()


def test_too_many_people_are_sampled_and_the_page_says_so(made, tmp_path, monkeypatch):
    model, frame = made
    monkeypatch.setattr(shown, "MOST_BYTES", 100 * 4 / 3 * (len(model.schema_) + 8))
    monkeypatch.setattr(findings, "MOST_CHECKED", 50)
    write_report(model, frame, tmp_path / "r.html", positions=np.random.default_rng(0).random((300, 2)))
    page = (tmp_path / "r.html").read_text()
    assert "It shows 100 of the 300 people" in page
    assert "For 50 people chosen at random" in page
    assert len(page) < 500_000


def test_a_picture_of_the_map(made, tmp_path):
    model, frame = made
    positions = np.random.default_rng(0).random((300, 2))
    for name in [None, *model.schema_.names]:
        map_svg(model, frame, tmp_path / "map.svg", question=name, positions=positions, most_people=200)
        svg = ElementTree.parse(tmp_path / "map.svg").getroot()
        paths = svg.findall(".//{http://www.w3.org/2000/svg}path")
        assert sum(path.get("d").count("M") for path in paths) == 200
    with pytest.raises(ValueError, match="no question is named 'x'"):
        map_svg(model, frame, tmp_path / "map.svg", question="x", positions=positions)
    with pytest.raises(ValueError, match="300 rows of two finite numbers"):
        map_svg(model, frame, tmp_path / "map.svg", question="binary_1", positions=positions[1:])


# HTML that holds


class Reader(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "' onmouseover='window.hacked=1' x='",
    "a\u2028b\u2029c <!-- & &lt; &amp;",
    "</textarea></select></title><svg onload=window.hacked=1>",
    "{{7*7}} ${7*7} javascript:window.hacked=1",
]


@given(st.text(max_size=40) | st.sampled_from(HOSTILE))
@examples(200)
def test_text_cannot_leave_its_element(given_text):
    clean = html.text(given_text)
    reader = Reader()
    reader.feed(html.el("p", given_text, title=given_text))
    reader.close()
    assert reader.tags == ["p"]
    assert [name for name, _ in reader.attributes] == ["title"]
    assert reader.attributes[0][1] == clean
    assert reader.text == clean


@given(st.recursive(st.text(max_size=20) | st.sampled_from(HOSTILE), lambda own: st.lists(own, max_size=3)))
@examples(200)
def test_data_in_a_script_stays_data(data):
    said = html.script_json(data)
    assert not set(said) & set("<>&\u2028\u2029")
    assert said.isascii()
    assert json.loads(said) == data


def hostile(n_rows=60):
    """A survey in which every text that can hold markup does."""
    random = np.random.default_rng(0)
    values = [HOSTILE[0], HOSTILE[1], HOSTILE[2]]
    columns = {HOSTILE[5]: "m1", HOSTILE[3]: "m2"}
    frame = pd.DataFrame(
        {
            HOSTILE[0]: random.integers(0, 2, n_rows),
            HOSTILE[1]: [values[n] for n in random.integers(0, 3, n_rows)],
            HOSTILE[4]: random.integers(1, 5, n_rows),
            "number": random.normal(size=n_rows),
            "m1": random.integers(0, 2, n_rows),
            "m2": random.integers(0, 2, n_rows),
            "r1": 1.0,
            "r2": 2.0,
        }
    )
    frame.loc[::7, [HOSTILE[0], HOSTILE[4], "number"]] = None
    schema = Schema(
        [
            Binary(HOSTILE[0], values=[0, 1], label=HOSTILE[6], labels={0: HOSTILE[2], 1: HOSTILE[3]}),
            Categorical(HOSTILE[1], values=values),
            Ordinal(HOSTILE[4], values=[1, 2, 3, 4], label=HOSTILE[4], labels={1: HOSTILE[4]}),
            Continuous("number", label=HOSTILE[2]),
            Multicategorical(HOSTILE[2], columns=columns, label=HOSTILE[0]),
            Ranking(HOSTILE[3], ranks={HOSTILE[0]: "r1", HOSTILE[2]: "r2"}),
        ]
    )
    return MVRBM(3, schema=schema, max_epochs=4, random_state=0).fit(frame), frame


def test_no_text_of_the_table_becomes_markup(tmp_path):
    model, frame = hostile()
    write_report(model, frame, tmp_path / "r.html", title=HOSTILE[1], positions=np.zeros((60, 2)))
    reader = Reader()
    reader.feed((tmp_path / "r.html").read_text())
    assert reader.tags.count("script") == 2
    assert "img" not in reader.tags
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]
    assert not [value for _, value in reader.attributes if value and value.startswith(("http", "//"))]
    for name in model.schema_.names:
        map_svg(model, frame, tmp_path / "map.svg", question=name, positions=np.zeros((60, 2)))
        tags = {own.tag.split("}")[1] for own in ElementTree.parse(tmp_path / "map.svg").iter()}
        assert tags == {"svg", "title", "style", "g", "path", "circle", "text"}


# every kind of model and table


def report(model, table, path, **given):
    given.setdefault("positions", np.random.default_rng(0).random((len(table), 2)))
    write_report(model, table, path / "r.html", **given)
    return (path / "r.html").read_text()


def test_models_and_tables_of_all_sorts(tmp_path, library):
    frame, schema = make_survey(40, random_state=0)
    model = MVRBM(2, schema=schema, max_epochs=2, random_state=0).fit(frame)
    columns = {name: [None if pd.isna(cell) else cell for cell in cells] for name, cells in frame.items()}
    assert "40" in report(model, library.frame(columns), tmp_path)


def test_a_model_without_patterns(tmp_path):
    frame, schema = make_survey(40, random_state=0)
    model = MVRBM(0, schema=schema, random_state=0).fit(frame)
    page = report(model, frame, tmp_path, positions=None)
    assert "learnt no patterns" in page
    assert "There was nothing to train" in page
    with pytest.raises(ValueError, match="no hidden units, so there is no map"):
        people_map(model, frame)


def test_the_paper_recipe_has_no_error_to_follow(tmp_path):
    frame, schema = make_survey(40, random_state=0)
    model = MVRBM(2, schema=schema, recipe="paper", max_epochs=3, random_state=0).fit(frame)
    page = report(model, frame, tmp_path)
    assert "No answers were kept from it" in page
    assert "Gap in free energy" not in page
    assert "as many rounds as it was allowed" in page


def test_whatever_training_records_is_drawn(tmp_path):
    frame, schema = make_survey(40, random_state=0)
    model = MVRBM(2, schema=schema, max_epochs=3, random_state=0).fit(frame)
    page = report(model, frame, tmp_path)
    assert "Gap in free energy" in page
    assert "Other thing" not in page
    for number, entry in enumerate(model.history_.epochs):
        entry.update(other_thing=number - 0.1)
    page = report(model, frame, tmp_path)
    assert "Other thing" in page
    assert ">0</text>" in page
    assert ">-0</text>" not in page


@pytest.mark.parametrize(
    ("rates", "names"),
    [
        ([0.02] * 3 + [0.04] * 3 + [0.012] * 3, ["0.02"]),
        ([0.02, 0.02], ["0.005", "0.01", "0.02", "0.05"]),
        ([0.03, 0.0012], ["0.001", "0.002", "0.005", "0.01", "0.02"]),
        ([0.3, 0.00002], ["1e-05", "0.0001", "0.001", "0.01", "0.1", "1"]),
    ],
)
def test_heights_on_a_logarithmic_line_are_round(rates, names):
    drawn = charts.lines(rates, said="rates", x_title="round", logarithmic=True)
    heights = re.findall(r'class="end">([^<]+)<', str(drawn))
    assert heights == names


def test_an_array_of_numbers(tmp_path):
    array = np.random.default_rng(0).normal(size=(30, 4))
    model = MVRBM(2, max_epochs=2, random_state=0).fit(array)
    assert "numbers: <b>4</b>" in report(model, array, tmp_path)


def test_a_table_that_lacks_columns_and_has_weights(tmp_path):
    frame, schema = make_survey(60, random_state=0)
    frame["w"] = np.arange(60.0)
    model = MVRBM(2, schema=Schema(schema, weight="w"), max_epochs=2, random_state=0).fit(frame)
    with pytest.warns(UserWarning, match="the table lacks"):
        page = report(model, frame.drop(columns=["binary_1", "continuous_1"]), tmp_path)
    assert "People count by the column" in page


def test_weights_count_in_what_can_be_told():
    frame, schema = make_survey(200, random_state=0)
    frame["w"] = np.repeat([2.0, 0.0], 100)
    model = MVRBM(3, schema=Schema(schema, weight="w"), max_epochs=3, random_state=0).fit(frame)
    weighted = findings.told_from_the_rest(findings.Survey(model, frame))
    alone = findings.told_from_the_rest(findings.Survey(model, frame.iloc[:100]))
    assert weighted.by_question == pytest.approx(alone.by_question)
    assert weighted.guess_by_question == pytest.approx(alone.guess_by_question)
    assert weighted.off == pytest.approx(alone.off)


def test_one_person_and_one_question(tmp_path):
    """With a map of its own."""
    frame = pd.DataFrame({"age": [30.0, 40.0]})
    model = MVRBM(1, schema=Schema([Continuous("age")]), max_epochs=1, random_state=0).fit(frame)
    assert "The map of people" in report(model, frame.iloc[:1], tmp_path, positions=None)


def test_the_same_model_and_table_give_the_same_page(made, tmp_path):
    model, frame = made
    positions = np.random.default_rng(0).random((300, 2))
    first = report(model, frame, tmp_path, positions=positions)
    assert report(model, frame, tmp_path, positions=positions) == first


# in a browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (apt-get install chromium)")


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """Open a page and, in the end, see that it said nothing wrong and asked for nothing."""
    wrong, contexts = [], []

    def opening(path, **settings):
        contexts.append(browser.new_context(viewport={"width": 1200, "height": 900}, **settings))
        page = contexts[-1].new_page()
        page.on("console", lambda said: wrong.append(f"console: {said.text}") if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: wrong.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        page.wait_for_function("document.getElementById('people').dataset.drawn")
        return page

    yield opening
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def written(made, tmp_path_factory):
    """A report whose people stand in a ring, so that each can be pointed at."""
    model, frame = made
    path = tmp_path_factory.mktemp("report") / "report.html"
    angle = np.linspace(0, 2 * np.pi, len(frame), endpoint=False)
    write_report(model, frame, path, positions=np.stack([2 * np.cos(angle), np.sin(angle)], axis=1))
    return path


def dots(page):
    """How many pixels of the map have each of its most frequent colours."""
    return page.evaluate(
        """() => {
            const canvas = document.getElementById("people");
            const own = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            const found = {};
            for (let n = 0; n < own.length; n += 4) {
                if (own[n + 3] > 200) {
                    const key = [own[n], own[n + 1], own[n + 2]].map((c) => Math.round(c / 8)).join(",");
                    found[key] = (found[key] || 0) + 1;
                }
            }
            return found;
        }"""
    )


@in_a_browser
def test_the_colour_list_works(made, written, opened):
    model, frame = made
    page = opened(written)
    shown_first, seen = page.input_value("#question"), set()
    for place, question in enumerate(model.schema_):
        page.select_option("#question", str(place))
        seen.add(json.dumps(dots(page), sort_keys=True))
        n_views = len(question.views(np.zeros((0, question.n_codes + question.n_numbers))))
        assert page.locator("#view option").count() == n_views
        assert page.locator("#view-choice").is_visible() == (n_views > 1)
        for view in range(1, min(n_views, 3)):
            page.select_option("#view", str(view))
            assert page.get_attribute("#people", "data-drawn") == f"{place}/{view}/all"
    assert len(seen) == len(model.schema_)  # no two look the same
    page.select_option("#question", shown_first)
    names = model.schema_.names
    page.select_option("#question", str(names.index("binary_1")))
    shares = frame["binary_1"].value_counts(dropna=False)
    told = [f"{name}\n{100 * shares[key] / len(frame):.1f}%" for name, key in (("no", "no"), ("yes", "yes"))]
    legend = page.locator("#legend button").all_inner_texts()
    assert [text.replace("\n\n", "\n") for text in legend[:2]] == [text.replace(".0%", "%") for text in told]


@in_a_browser
def test_a_colour_pressed_shows_only_its_people(made, written, opened):
    page = opened(written)
    page.select_option("#question", str(made[0].schema_.names.index("binary_1")))
    before = sum(dots(page).values())
    page.locator("#legend button").first.click()
    assert page.get_attribute("#people", "data-drawn").endswith("/0")
    assert page.locator("#legend button").first.get_attribute("aria-pressed") == "true"
    assert 0 < sum(dots(page).values()) < before
    page.locator("#legend button").first.click()
    assert sum(dots(page).values()) == before


@in_a_browser
def test_pointing_at_a_person_shows_their_answers(made, written, opened):
    model, frame = made
    page = opened(written)
    box = page.locator("#people").bounding_box()
    page.locator("#people").scroll_into_view_if_needed()
    box = page.locator("#people").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + box["height"] / 2)  # who stands furthest to the right
    assert page.inner_text("#person-hint") == "Row 1 of the table"
    first = encode(frame.iloc[[0]], model.schema_)
    told = {question.name: question.tell(block)[0] for question, block in blocks(first, model.schema_)}
    names, answers = page.locator("#person dt").all_inner_texts(), page.locator("#person dd").all_inner_texts()
    read = dict(zip(names, answers, strict=True))
    chosen = model.schema_.names[int(page.input_value("#question"))]
    assert read.pop(chosen) == (told[chosen] or "no answer") == page.locator("#tip b").inner_text()
    assert read == {name: said for name, said in told.items() if said and name != chosen}
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # nobody stands there
    assert page.locator("#tip").is_hidden()
    page.focus("#people")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#tip").is_visible()
    assert page.inner_text("#person-hint") != "Row 1 of the table"


@in_a_browser
def test_a_hostile_label_does_not_run(opened, tmp_path):
    model, frame = hostile()
    path = tmp_path / "hostile.html"
    write_report(model, frame, path, title=HOSTILE[1], positions=np.random.default_rng(0).random((60, 2)))
    page = opened(path)
    for place in range(len(model.schema_)):
        page.select_option("#question", str(place))
        for view in range(1, page.locator("#view option").count()):
            page.select_option("#view", str(view))
    page.focus("#people")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.locator("svg.heat").hover()
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").text_content() == HOSTILE[1]
    assert page.locator("#question option").all_text_contents()[1] == HOSTILE[1]
    assert page.locator("img, iframe, object, embed, link, main script").count() == 0


@in_a_browser
def test_the_policy_stops_what_gets_in_all_the_same(written, opened, browser):
    """Should markup ever get through, it does not run: the policy is tried with a script put in by hand."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(written.as_uri())
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked=1'}))")
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    context.close()


@in_a_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 375, 768, 1200])
def test_no_width_scrolls_sideways(written, opened, width, scheme):
    page = opened(written, color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 700})
    page.evaluate("for (const own of document.querySelectorAll('details')) own.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#people").bounding_box()["width"] > 0.8 * min(width, 500)


@in_a_browser
def test_on_paper_nothing_is_folded_or_cut(written, opened):
    page = opened(written, color_scheme="dark")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 990})  # A4 with margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


LUMINANCE = """(colour) => {
    const channel = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.match(/[0-9.]+/g).map(channel);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}"""


@in_a_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_headings_names_and_contrast(written, opened, scheme):
    """What those need who listen to the page, or see little."""
    page = opened(written, color_scheme=scheme)
    levels = page.evaluate("Array.from(document.querySelectorAll('h1,h2,h3,h4'), (own) => Number(own.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("svg:not([aria-label]):not([aria-hidden])").count() == 0
    assert page.locator("canvas[aria-label], select").count() == 3
    assert page.locator("label").count() == page.locator("select").count()
    ids = page.evaluate("Array.from(document.querySelectorAll('[id]'), (own) => own.id)")
    assert len(ids) == len(set(ids))
    for selector in ("p", ".note", ".of", "summary", "nav a", "figcaption", ".number", "#legend small"):
        own, behind = page.evaluate(
            f"""(selector) => {{
                const light = {LUMINANCE};
                const element = document.querySelector(selector);
                let under = element;
                while (getComputedStyle(under).backgroundColor === "rgba(0, 0, 0, 0)") under = under.parentElement;
                return [light(getComputedStyle(element).color), light(getComputedStyle(under).backgroundColor)];
            }}""",
            selector,
        )
        assert (max(own, behind) + 0.05) / (min(own, behind) + 0.05) >= 4.5, selector
