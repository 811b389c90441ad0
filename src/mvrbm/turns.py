"""Draws of one question after another, for a machine that learnt to tell hidden answers from those that are there.

Such a machine (`RBM.mean_field`) is good at what one question may be given others. What it says of all of them at once,
as Gibbs sampling would draw it, nothing in its training saw to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mvrbm.kernels import hidden
from mvrbm.kernels.random import Stream
from mvrbm.rbm import RBM
from mvrbm.units.block import Array, Index
from mvrbm.visible import Alone, Chunk

Marks = NDArray[np.bool_]


@dataclass
class Turns:
    """The blanks of some people, and the answers that are drawn for them.

    What was drawn acts on the other questions in one of two ways. As an answer, it is told to the machine like those
    that are there. Otherwise it acts by how far it is from what was expected: then, in the mean, the others stay as
    they were, whatever blanks are drawn before them; nobody is told to have answered what they did not.
    """

    rbm: RBM
    alone: Sequence[Alone]
    given: Chunk
    rows: Index
    seed: int
    turn: int = 0
    """Turns taken, so that each has random numbers of its own."""

    def __post_init__(self) -> None:
        self.chunk = Chunk(self.given.codes.copy(), self.given.numbers.copy())
        self.X = self.rbm.features(self.chunk)
        self.inputs = self.rbm.hidden_inputs(self.chunk, self.X)

    def take(self, at: int, people: Index, as_answers: bool) -> None:
        """Draw what is blank in a question, by its place in the layer, for some people; again, if it was before."""
        self.turn += 1
        if not len(people):
            return
        alone, rbm = self.alone[at], self.rbm
        told = rbm.visible.n_features + at
        known = alone.cut(self.given, people)
        X = np.take(self.X, people, axis=1)
        self._put(alone, people, X, alone.layer.features(known), told, alone.layer.answered(known)[0])
        z, theta = self._expected(alone, people, X), rbm.theta[alone.base]
        if not as_answers:  # what is drawn again and again would lose some of what it depends on each time
            z, theta = alone.layer.tempered(z, theta)
        drawn = alone.layer.sample_alone(z, theta, Stream(self.seed, self.turn, self.rows[people]), known)
        alone.paste(drawn, self.chunk, people)
        if as_answers:
            self._put(alone, people, X, alone.layer.features(drawn), told, np.ones(len(people), bool))
        else:
            new = drawn.without(known)
            x = alone.layer.features(known) + alone.layer.features(new) - alone.layer.mean(z, theta, new)[0]
            self._put(alone, people, X, x, told, alone.layer.answered(known)[0])

    def _expected(self, alone: Alone, people: Index, X: Array) -> Array:
        """The inputs of a question with the hidden units at their posterior means given all else."""
        H = np.take(self.inputs, people, axis=1)
        hidden.sigmoid(H)
        own = self.rbm.parameters.joint[alone.features]
        z: Array = own[:, :-1] @ H + own[:, -1:]
        if self.rbm.links:
            self.rbm.links.add_inputs(self.rbm.parameters.links, X, z, alone.features)
        return z

    def _put(self, alone: Alone, people: Index, X: Array, x: Array, told: int, answered: Marks) -> None:
        """Let a question act on the hidden units by its features and by whether it is told to be answered."""
        joint = self.rbm.parameters.joint[:, :-1]
        change = joint[alone.features].T @ (x - X[alone.features])
        X[alone.features] = x
        self.X[alone.features, people] = x
        if len(self.rbm.parameters.R):
            change += np.outer(joint[told], answered - X[told])
            X[told] = self.X[told, people] = answered
        self.inputs[:, people] += change


def draw_blanks(turns: Turns, order: Index) -> Chunk:
    """Every blank of people whose answers are there, the questions in some order."""
    blank = turns.rbm.visible.blank_questions(turns.given)
    for at in order:
        turns.take(at, np.flatnonzero(blank[at]), as_answers=False)
    return turns.chunk


def draw_people(turns: Turns, order: Index, answer: Marks, sweeps: int) -> Chunk:
    """Made-up people who answer some questions, (questions, people): these again and again, then those left out."""
    blank = turns.rbm.visible.blank_questions(turns.given)
    for _ in range(sweeps):
        for at in order:
            turns.take(at, np.flatnonzero(blank[at] & answer[at]), as_answers=True)
    for at in order:
        turns.take(at, np.flatnonzero(blank[at] & ~answer[at]), as_answers=False)
    return turns.chunk
