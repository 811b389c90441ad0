"""The random numbers: the published generator, evenly spread, and a function of nothing but their place."""

import numpy as np
import pytest
from scipy import stats

from mvrbm.kernels.random import Stream, uniforms


def words(seed, step, row, first):
    """The four words of one counter, as far as a float32 in (0, 1) keeps them: the upper 23 bits."""
    out = np.empty((4, 1), np.float32)
    low, high = np.array([row & 0xFFFFFFFF], np.uint32), np.array([row >> 32], np.uint32)
    uniforms(np.uint64(seed), step, low, high, first, out)
    return [int(u * 2**23) << 9 for u in out[:, 0].astype(np.float64)]


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # the known answers that are published with Random123 (philox 4x32, 10 rounds)
        ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_known_answers(counter, key, expected):
    found = words(key[0] | key[1] << 32, counter[3], counter[1] | counter[2] << 32, counter[0])
    assert found == [word >> 9 << 9 for word in expected]


def test_evenly_spread_and_unrelated():
    rows = np.arange(5000)
    u = Stream(5, 3, rows).uniform(40)
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u.ravel(), "uniform").pvalue > 1e-4
    related = np.corrcoef(np.concatenate([u, Stream(5, 4, rows).uniform(40), Stream(6, 3, rows).uniform(40)]))
    np.fill_diagonal(related, 0)
    assert abs(related).max() < 5 / np.sqrt(len(rows))
    neighbours = [np.corrcoef(row[:-1], row[1:])[0, 1] for row in u]
    assert abs(np.array(neighbours)).max() < 5 / np.sqrt(len(rows))


def test_a_stream_goes_on_and_no_draw_comes_twice():
    rows = np.arange(7)
    stream = Stream(1, 2, rows)
    parts = np.concatenate([stream.uniform(4), stream.uniform(8)])
    np.testing.assert_array_equal(parts, Stream(1, 2, rows).uniform(12))
    assert len(np.unique(parts)) == parts.size


def test_a_draw_depends_on_its_row_and_not_on_its_neighbours():
    rows = np.array([3, 2**40 + 5, 11])
    whole = Stream(1, 2, rows).uniform(6)
    for place in range(3):
        np.testing.assert_array_equal(Stream(1, 2, rows[[place]]).uniform(6)[:, 0], whole[:, place])
