"""Steps of the parameters: to and from the coordinates in which they are taken.

`joint` are the weights between inputs (features, then questions answered or not, then a one) and hidden units, with
the biases of the features in its last column and those of the hidden units in its last row.
"""

from __future__ import annotations

from typing import Any

from mvrbm.kernels.compile import kernel, reordered


@kernel
def centre_gradient(joint: Any, own: Any, question: Any, inputs: Any, hidden: Any) -> None:
    """Turn a gradient, in place, into that of weights around the middle (`training/centring.py`).

    `own` is what an average answer to its `question` is of each feature; 0 throughout if nothing is told. `inputs` and
    `hidden` are the middle of either layer.
    """
    n, told, last = len(own), joint.shape[0] - 1 > len(own), joint.shape[1] - 1
    w = joint[-1]
    for f in range(n):
        row, u, mean, average = joint[f], joint[f, last], inputs[f], own[f]
        if told:
            r = joint[n + question[f]]
            for k in range(last):
                row[k] -= u * hidden[k] + average * r[k] + mean * w[k]
        else:
            for k in range(last):
                row[k] -= u * hidden[k] + mean * w[k]
    for f in range(n, joint.shape[0] - 1):
        row, mean = joint[f], inputs[f]
        for k in range(last):
            row[k] -= mean * w[k]


@kernel
def add_average(joint: Any, own: Any, question: Any, sign: Any) -> None:
    """Add to the weights of a question's being answered those of an average answer to it, or take them off."""
    n = len(own)
    for f in range(n):
        average = sign * own[f]
        if average != 0:
            row, r = joint[f], joint[n + question[f]]
            for k in range(joint.shape[1] - 1):
                r[k] += average * row[k]


@reordered
def move_biases(joint: Any, before: Any, n_features: int, inputs: Any, hidden: Any) -> None:
    """Move the biases against what the weights have moved from `before`, so that the middle stays where it is."""
    last = joint.shape[1] - 1
    w = joint[-1]
    for f in range(joint.shape[0] - 1):
        row, was, mean = joint[f], before[f], inputs[f]
        total = joint.dtype.type(0)
        for k in range(last):
            step = row[k] - was[k]
            total += step * hidden[k]
            w[k] -= mean * step
        if f < n_features:
            row[last] -= total


@kernel
def add_rows(values: Any, to: Any, from_: Any, y: Any, out: Any) -> None:
    """out[to] += value y[from] for each entry of a sparse matrix, in the columns that both y and out have."""
    n = min(y.shape[1], out.shape[1])
    for e in range(len(values)):
        value, row, own = values[e], y[from_[e]], out[to[e]]
        for k in range(n):
            own[k] += value * row[k]


@kernel
def add_entries(values: Any, to: Any, from_: Any, y: Any, out: Any) -> None:
    """out[to] += value y[from] for each entry of a sparse matrix; y and out are vectors."""
    for e in range(len(values)):
        out[to[e]] += values[e] * y[from_[e]]
