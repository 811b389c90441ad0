"""The machine by brute force: every answer and every hidden state listed, straight from the paper's formulas.

Nothing here uses the package's units, kernels or sums, so that both can't be wrong in the same way. Continuous answers
are the nodes of Gauss-Legendre rules with their weights, one between each two steps.
"""

import itertools
import math

import numpy as np
from scipy import special

import mvrbm
from mvrbm.answers import Answers
from mvrbm.links import ANSWERED_GAIN, Links
from mvrbm.rbm import RBM
from mvrbm.summary import NEVER, summarise
from mvrbm.visible import Visible

FAR = 14.0  # standard deviations within which an unbounded number is listed


class Listed:
    """All answers to one question: their codes or number, G(v), H_k(v) and the weight of a grid point."""

    def __init__(self, question, U, V, base, paper, location=0.0, scale=1.0, steps=(), heights=()):
        kind = question.kind
        if kind == "binary":
            self.codes = np.array([[0], [1]])
            G = U[0] * self.codes[:, 0]
            H = self.codes * V[0]
        elif kind == "categorical":
            self.codes = np.arange(len(U))[:, None]
            G, H = U, V
        elif kind == "multicategorical":
            self.codes = np.array(list(itertools.product([0, 1], repeat=len(U))))
            if not question.allow_empty:
                self.codes = self.codes[1:]
            G, H = self.codes @ U, self.codes @ V
        elif kind == "ordinal":
            G, H = self._ordinal(question, U, V, base, paper)
        elif kind == "count":
            G, H = self._count(question, U, V, base, paper, location, scale)
        elif kind == "ranking":
            G, H = self._ranking(question, U, V, base, paper)
        else:
            G, H = self._continuous(question, U, V, base, paper, location, scale, steps, heights)
        self.G, self.H = np.asarray(G, float), np.asarray(H, float)
        self.log_measure = getattr(self, "log_measure", np.zeros(len(self.G)))

    def _ordinal(self, question, U, V, base, paper):
        M = question.n_values
        self.codes = np.arange(M)[:, None]
        basis = question.basis or ("paper" if paper else "free")
        G, H = np.zeros(M), np.zeros((M, V.shape[1]))
        for m in range(1, M + 1):
            for d in range(1, len(U) + 1):
                if basis == "free":
                    phi = float(m == d)
                elif basis == "paper":
                    phi = (m - d) / (M - 1)
                else:
                    phi = ((m - 1) / (M - 1)) ** d
                G[m - 1] += phi * U[d - 1]
                H[m - 1] += phi * V[d - 1]
            if basis == "stereotype":
                G[m - 1] += base[m - 1]
        return G, H

    def _count(self, question, U, V, base, paper, location, scale):
        v = np.arange(question.high + 1)
        self.codes = v[:, None]
        tangent = special.gammaln(location[0] + 1) + special.digamma(location[0] + 1) * (v - location[0])
        poisson = tangent - np.array([np.log(float(math.factorial(n))) for n in v])
        x = [(v - location[0]) / scale[0], (np.log(1 + v) - location[1]) / scale[1]]
        var = max(location[2], 1.0)
        spread = base[0] * (1 if paper else max(location[0], 0.5) / var)
        G, H = spread * poisson, np.zeros((len(v), V.shape[1]))
        for d in range(len(U)):
            G = G + U[d] * x[d]
            H = H + np.outer(x[d], V[d])
        return G, H

    def _ranking(self, question, U, V, base, paper):
        """The items' worth, by the paper over M, and, which the paper has not, what sets each two apart."""
        items = question.n_values
        scale = items if paper else 1.0
        pairs = list(itertools.combinations(range(items), 2))
        self.codes = np.array(list(itertools.product([0, 1, 2], repeat=len(pairs))))
        G, H = np.zeros(len(self.codes)), np.zeros((len(self.codes), V.shape[1]))
        for n, outcome in enumerate(self.codes):
            for number, ((left, right), o) in enumerate(zip(pairs, outcome, strict=True)):
                if o == 1:
                    G[n] += base[0] + (U[left] + U[right]) / (2 * scale)
                    H[n] += (V[left] + V[right]) / (2 * scale)
                    continue
                best = left if o == 0 else right
                G[n] += U[best] / scale
                H[n] += V[best] / scale
                if not paper:
                    G[n] += U[items + number] / 4 * (1 if o == 0 else -1)
                    H[n] += V[items + number] / 4 * (1 if o == 0 else -1)
        return G, H

    def _continuous(self, question, U, V, base, paper, location, scale, steps, heights):
        """The number, and, which the paper has not, on which side of each step it lies."""
        low, high = -FAR, FAR
        if question.low is not None and not paper:
            low = (question.low - location) / scale
        if question.high is not None and not paper:
            high = (question.high - location) / scale
        ends = [low, *((s - location) / scale for s in steps), high]
        assert len(U) == 1 + len(steps)
        assert ends == sorted(ends)
        v, measure = [], []
        for left, right in itertools.pairwise(ends):
            nodes, weights = np.polynomial.legendre.leggauss(160 if len(ends) == 2 else 15 if right - left < 2 else 50)
            v.append(left + (right - left) * (nodes + 1) / 2)
            measure.append(weights * (right - left) / 2)
        self.piece = piece = np.repeat(np.arange(len(v)), [len(part) for part in v])
        v, self.log_measure = np.concatenate(v), np.log(np.concatenate(measure))
        above = np.array([[(h if n > j else -h) / 2 for j, h in enumerate(heights)] for n in range(len(ends) - 1)])
        self.codes = np.zeros((len(v), 0), int)
        self.numbers = (v * scale + location)[:, None]
        sigma = np.exp(-base[0] / 2)

        def draw_number(state, rng, linked):
            """A piece by its mass, and then a number in it by the inverse of the distribution function."""
            z = U[:, None] + V @ state.T + linked
            mean = sigma**2 * z[0]
            below = special.ndtr((np.array(ends)[:, None] - mean) / sigma)
            mass = np.exp(above @ z[1:]) * np.diff(below, axis=0)
            chosen = (rng.random(len(mean)) * mass.sum(axis=0) > np.cumsum(mass, axis=0)).sum(axis=0)
            people = np.arange(len(mean))
            u = below[chosen, people] + rng.random(len(mean)) * np.diff(below, axis=0)[chosen, people]
            return (mean + sigma * special.ndtri(u)) * scale + location

        self.draw_number = draw_number
        G = -(v**2) / (2 * sigma**2) + U[0] * v + (above @ U[1:])[piece]
        return G, v[:, None] * V[0] + (above @ V[1:])[piece]


def questions_of(case):
    """Small questions by the name of a case."""
    b = [mvrbm.Binary("b0", values=[0, 1]), mvrbm.Binary("b1", values=[0, 1])]
    c = [mvrbm.Categorical("c0", values=[0, 1, 2]), mvrbm.Categorical("c1", values=[0, 1])]

    def o(basis):
        dimension = 2 if basis == "stereotype" else None
        return [
            mvrbm.Ordinal("o0", values=[1, 2, 3], basis=basis),
            mvrbm.Ordinal("o1", values=[1, 2, 3, 4], basis=basis, dimension=dimension),
        ]

    def m(allow):
        return [
            mvrbm.Multicategorical("m0", columns={"x": "m0x", "y": "m0y"}, allow_empty=allow),
            mvrbm.Multicategorical("m1", columns={"x": "m1x", "y": "m1y", "z": "m1z"}, allow_empty=allow),
        ]

    def r(ties):
        return [
            mvrbm.Ranking("r0", ranks={i: f"r0{i}" for i in "xyz"}, ties=ties),
            mvrbm.Ranking("r1", ranks={i: f"r1{i}" for i in "xy"}, ties=ties),
        ]

    def n(**more):
        return [mvrbm.Continuous("n0", **more), mvrbm.Continuous("n1", sigma=0.7)]

    k = [mvrbm.Count("k0", high=2), mvrbm.Count("k1", high=23)]

    return {
        "binary": b,
        "categorical": c,
        "multicategorical": m(True),
        "non-empty": m(False),
        "ordinal": o(None),
        "ordinal paper": o("paper"),
        "ordinal stereotype": o("stereotype"),
        "ranking": r("learn"),
        "ranking fixed": r(1.3),
        "continuous": n(),
        "continuous fixed": n(sigma=1.0),
        "continuous bounded": n(low=0.5, high=6.5),
        "count": k,
        "mixture": [b[0], o(None)[0], m(True)[0], n()[0], c[0], r("learn")[1], b[1], k[0]],
        "paper": [n()[0], b[0], o(None)[0], m(True)[0], c[1], r(None)[1], k[0]],
    }[case]


CASES = [
    "binary",
    "categorical",
    "multicategorical",
    "non-empty",
    "ordinal",
    "ordinal paper",
    "ordinal stereotype",
    "ranking",
    "ranking fixed",
    "continuous",
    "continuous fixed",
    "continuous bounded",
    "count",
    "mixture",
    "paper",
]


def random_answers(questions, n_rows, seed, missing=0.0, numbers=(2.0, 1.5)):
    """Answers at random, each question blank with some probability (and, where it can be, single options and pairs)."""
    rng = np.random.default_rng(seed)
    codes, nums = [], []
    for q in questions:
        blank = rng.random((n_rows, 1)) < missing
        if q.kind == "continuous":
            column = numbers[0] + numbers[1] * rng.standard_normal((n_rows, 1))
            if q.low is not None:
                column = np.clip(column, q.low, q.high)
            nums.append(np.where(blank, np.nan, column))
            continue
        size = {"multicategorical": 2, "ranking": 3}.get(q.kind, q.n_values)
        block = rng.integers(0, size, (n_rows, q.n_codes))
        if q.kind == "multicategorical" and not q.allow_empty:
            block[block.sum(axis=1) == 0, 0] = 1
        elif q.n_codes > 1:
            blank = blank | (rng.random(block.shape) < missing / 2)
        codes.append(np.where(blank, 255, block))
    codes = np.concatenate(codes, axis=1) if codes else np.zeros((n_rows, 0))
    nums = np.concatenate(nums, axis=1) if nums else np.zeros((n_rows, 0))
    return Answers(codes.astype(np.uint8), nums.astype(np.float32))


def all_links(visible):
    """A link between every two features of different questions (but of counts with these or numbers), and from each."""
    rows, columns = [], []
    kinds = [visible.questions[i].kind for i in visible.question_order]
    for i, own in enumerate(visible.feature_question):
        for j, other in enumerate(visible.feature_question[:i]):
            pair = {kinds[own], kinds[other]}
            if own != other and not ("count" in pair and pair <= {"continuous", "count"}):
                rows.append(i)
                columns.append(j)
        for other in range(visible.n_questions):
            if own != other:
                rows.append(i)
                columns.append(visible.n_features + other)
    return Links(np.array(rows), np.array(columns), visible.feature_question)


def machine(case, n_hidden=3, seed=0, size=0.7, dtype=np.float64, told=False, linked=False):
    """A machine with random parameters, large enough to matter; told which questions are answered, and with links."""
    questions = questions_of(case)
    paper = case == "paper"
    data = random_answers(questions, 200, seed)
    if data.numbers.shape[1] > 1:
        data.numbers[100:, 0] = np.nan  # so few answers have fewer steps
    visible = Visible(questions, summarise(data, questions), paper=paper)
    links = all_links(visible) if linked else None
    rbm = RBM.start(visible, n_hidden, seed, dtype=dtype, answered=told or linked, links=links)
    rng = np.random.default_rng(seed + 1)
    p = rbm.parameters
    p.W[:] = size * rng.standard_normal(p.W.shape)
    p.U[:] = size * rng.standard_normal(p.U.shape)
    p.w[:] = size * rng.standard_normal(p.w.shape)
    p.R[:] = size * rng.standard_normal(p.R.shape)
    p.links[:] = 0.4 * size * rng.standard_normal(p.links.shape)
    learnt = visible.natural_slope(p.base) != 0
    p.base[learnt] = 0.3 * rng.standard_normal(learnt.sum())
    rbm.refresh()
    return rbm


class Oracle:
    """Every answer of a machine restricted to some questions (by their number in the schema), and its probability.

    `told` are the questions that the machine is told are answered: unless given, those that are.
    """

    def __init__(self, rbm, only=None, told=None):
        visible, p = rbm.visible, rbm.parameters
        self.questions = visible.questions
        self.only = list(range(len(self.questions))) if only is None else list(only)
        starts = [*visible.feature_start, visible.n_features]
        place = {int(s): n for n, s in enumerate(visible.question_order)}
        self.w = p.w.astype(float)
        self.listed = {}
        for i in self.only:
            n = place[i]
            own = slice(starts[n], starts[n + 1])
            U, V, base = (
                p.U[own].astype(float),
                p.W[own].astype(float),
                p.base[visible.base_question == n].astype(float),
            )
            more = *location_and_scale(rbm, i), steps_of(rbm, i), steps_of(rbm, i, row=2)
            self.listed[i] = Listed(self.questions[i], U, V, base, visible.paper, *more)
        sizes = [len(self.listed[i].G) for i in self.only]
        self.index = np.stack([axis.ravel() for axis in np.indices(sizes)], axis=1)
        self.G, self.H, self.log_measure = (
            sum(getattr(self.listed[i], name)[self.index[:, n]] for n, i in enumerate(self.only))
            for name in ("G", "H", "log_measure")
        )
        self.states = np.array(list(itertools.product([0, 1], repeat=len(self.w))), float)
        told = [place[i] for i in (self.only if told is None else told)]
        if len(p.R):
            self.w = self.w + p.R[told].sum(axis=0)
        self.linked = lambda i, answers: 0.0
        if rbm.links:
            self.G = self.G + self._links(rbm, place, told)

    def _links(self, rbm, place, told):
        """The sum over links of weight times the two features, or of weight times feature if that question is told."""
        visible = rbm.visible
        starts = [*visible.feature_start, visible.n_features]

        def features(answers):
            return visible.features(visible.load(answers, np.arange(answers.n_rows), np.float64))

        def linked(i, answers):
            """What links add to the inputs of a question, given all that people answer."""
            x, inputs = features(answers), np.zeros((visible.n_features, answers.n_rows))
            for left, right, weight in zip(rbm.links.rows, rbm.links.columns, rbm.parameters.links, strict=True):
                if right < visible.n_features:
                    inputs[left] += weight * x[right]
                    inputs[right] += weight * x[left]
                elif right - visible.n_features in told:
                    inputs[left] += ANSWERED_GAIN * weight
            return inputs[starts[place[i]] : starts[place[i] + 1]]

        self.linked = linked
        x, total = features(self.answers()), np.zeros(len(self.index))
        for left, right, weight in zip(rbm.links.rows, rbm.links.columns, rbm.parameters.links, strict=True):
            if right < visible.n_features:
                total += weight * x[left] * x[right]
            elif right - visible.n_features in told:
                total += ANSWERED_GAIN * weight * x[left]
        return total

    def log_joint(self):
        """-E(v, h) plus the log of the quadrature's weight, (answers, hidden states)."""
        return (self.log_measure + self.G)[:, None] + self.states @ self.w + self.H @ self.states.T

    def log_z(self):
        return np.logaddexp.reduce(self.log_joint(), axis=None)

    def probabilities(self):
        """P(v) of each listed answer."""
        return np.exp(np.logaddexp.reduce(self.log_joint(), axis=1) - self.log_z())

    def draw(self, n, rng):
        """People drawn exactly: an answer and a hidden state from the list, then each number given all else."""
        joint = np.exp(self.log_joint() - self.log_z()).ravel()
        pick = rng.choice(len(joint), n, p=joint / joint.sum())
        state, at = self.states[pick % len(self.states)], pick // len(self.states)
        answers = self.answers().take(at)
        column = 0
        for i in self.only:
            if self.questions[i].kind == "continuous":
                answers.numbers[:, column] = self.listed[i].draw_number(state, rng, self.linked(i, answers))
                column += 1
        return answers

    def answers(self):
        """The listed answers, the other questions blank."""
        n = len(self.index)
        codes, numbers = [], []
        for i, q in enumerate(self.questions):
            if i in self.listed:
                at = self.index[:, self.only.index(i)]
                if q.n_codes:
                    codes.append(self.listed[i].codes[at])
                else:
                    numbers.append(self.listed[i].numbers[at])
            elif q.n_codes:
                codes.append(np.full((n, q.n_codes), 255))
            else:
                numbers.append(np.full((n, 1), np.nan))
        codes = np.concatenate(codes, axis=1) if codes else np.zeros((n, 0))
        numbers = np.concatenate(numbers, axis=1) if numbers else np.zeros((n, 0))
        return Answers(codes.astype(np.uint8), numbers.astype(np.float32))


def steps_of(rbm, question, row=0):
    """Where a number's steps are, or with row=2 how high, as the summary of the data tells; the paper has none."""
    questions, summary = rbm.visible.questions, rbm.visible.summary
    if not questions[question].n_numbers or rbm.visible.paper or not len(summary.steps):
        return ()
    own = summary.steps[sum(q.n_numbers for q in questions[:question])]
    return own[row, own[0] < NEVER]


def location_and_scale(rbm, question):
    """How the data standardised a continuous question; of a count, itself and its logarithm (and its variance)."""
    q = rbm.visible.questions[question]
    if q.kind == "count":
        column = sum(other.n_codes for other in rbm.visible.questions[:question])
        data = np.repeat(np.arange(q.high + 1), rbm.visible.summary.counts[column][: q.high + 1].astype(int))
        both = np.stack([data, np.log(1 + data)])
        return (*both.mean(axis=1), data.var()), np.maximum(4 * both.std(axis=1), [1.0, 0.5])
    for part in rbm.visible.parts:
        own = rbm.visible.question_order[part.questions]
        if hasattr(part.block, "location") and question in own:
            at = list(own).index(question)
            return float(part.block.location[at, 0]), float(part.block.scale[at, 0])
    return 0.0, 1.0
