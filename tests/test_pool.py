"""Rubin's rules: by hand, against SciPy's t, and by the coverage that they promise."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mvrbm.pool import pool


def test_by_hand():
    """Three draws: estimates 10, 12, 11; variances 1, 1.2, 0.8."""
    pooled = pool([10.0, 12.0, 11.0], [1.0, 1.2, 0.8])
    assert pooled.draws == 3
    assert pooled.estimate == pytest.approx(11)  # (10 + 12 + 11) / 3
    assert pooled.within == pytest.approx(1)  # (1 + 1.2 + 0.8) / 3
    assert pooled.between == pytest.approx(1)  # ((-1)^2 + 1^2 + 0^2) / (3 - 1)
    assert pooled.total == pytest.approx(7 / 3)  # 1 + (1 + 1/3) * 1
    assert pooled.standard_error == pytest.approx(math.sqrt(7 / 3))
    assert pooled.relative_increase == pytest.approx(4 / 3)  # (1 + 1/3) * 1 / 1
    assert pooled.df == pytest.approx(6.125)  # (3 - 1) * (1 + 1 / (4/3))^2 = 2 * (7/4)^2
    # (r + 2 / (df + 3)) / (r + 1) = (4/3 + 2 / 9.125) / (7/3)
    assert pooled.missing_information == pytest.approx((4 / 3 + 2 / 9.125) / (7 / 3))
    margin = stats.t.ppf(0.975, 6.125) * math.sqrt(7 / 3)
    assert pooled.interval == pytest.approx((11 - margin, 11 + margin))


def test_by_hand_for_a_small_table():
    """The same with 50 degrees of freedom were nothing missing: Barnard and Rubin's formula."""
    pooled = pool([10.0, 12.0, 11.0], [1.0, 1.2, 0.8], complete_df=50, confidence=0.9)
    # the missing share of the variance is (4/3) / (7/3) = 4/7, so that 3/7 is observed
    observed = 51 / 53 * 50 * 3 / 7
    df = 1 / (1 / 6.125 + 1 / observed)  # 4.72
    assert pooled.df == pytest.approx(df)
    assert pooled.missing_information == pytest.approx((4 / 3 + 2 / (df + 3)) / (7 / 3))
    low, high = stats.t.interval(0.9, df, 11, math.sqrt(7 / 3))
    assert pooled.interval == pytest.approx((low, high))
    assert pool([1, 2], [1, 1], complete_df=math.inf).df == pool([1, 2], [1, 1]).df


def test_arrays_are_pooled_element_by_element():
    rng = np.random.default_rng(0)
    estimates, variances = rng.normal(size=(5, 2, 3)), rng.random((5, 2, 3))
    pooled = pool(list(estimates), variances, complete_df=20)
    for place in np.ndindex(2, 3):
        alone = pool(estimates[:, *place], [float(v[place]) for v in variances], complete_df=20)
        for part in alone.to_frame():
            assert getattr(pooled, part)[place] == pytest.approx(getattr(alone, part))
    assert isinstance(alone.estimate, float)
    assert pooled.to_frame().shape == (6, 10)
    assert pooled.to_frame().loc[(1, 2), "low"] == pooled.low[1, 2]


def test_labels_are_kept_and_matched():
    first = pd.Series({"age": 1.0, "income": 5.0})
    pooled = pool([first, pd.Series({"income": 7.0, "age": 3.0})], [first, np.array([1.0, 5.0])])
    assert pooled.estimate.to_dict() == {"age": 2.0, "income": 6.0}
    assert all(list(getattr(pooled, part).index) == ["age", "income"] for part in pooled.to_frame())
    assert list(pooled.to_frame().index) == ["age", "income"]
    assert pooled.to_frame().loc["age", "within"] == 1.0
    labelled = pool([[1.0, 5.0], [3.0, 7.0]], [first, first])
    assert labelled.estimate.to_dict() == pooled.estimate.to_dict()


def test_draws_that_agree_are_normal():
    pooled = pool([0.1, 0.1, 0.1], [4.0, 4.0, 4.0])
    assert (pooled.between, pooled.df, pooled.relative_increase, pooled.missing_information) == (0, math.inf, 0, 0)
    assert pooled.interval == pytest.approx(stats.norm.interval(0.95, 0.1, 2))
    # with nothing missing the formula of Barnard and Rubin keeps a little below the complete data's
    assert pool([0.1, 0.1], [4.0, 4.0], complete_df=10).df == pytest.approx(11 / 13 * 10)


def test_no_variance():
    nothing = pool([1.0, 1.0], [0.0, 0.0])
    assert (nothing.total, nothing.interval, nothing.missing_information) == (0, (1, 1), 0)
    between = pool([1.0, 3.0, 2.0], [0.0, 0.0, 0.0])
    assert (between.relative_increase, between.missing_information, between.df) == (math.inf, 1, 2)
    assert pool([1.0, 3.0], [0.0, 0.0], complete_df=5).interval == (-math.inf, math.inf)


def test_printed():
    assert str(pool([1.0, 2.0], [1.0, 1.0], confidence=0.9)).startswith("2 draws, 90% interval\n estimate")
    text = str(pool([pd.Series({"age": 1.25}), pd.Series({"age": 1.75})], [[0.5], [0.5]]))
    assert text.splitlines()[2].split()[:2] == ["age", "1.5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0]), "at least 2 draws, not 1"),
        (([], []), "at least 2 draws, not 0"),
        (([1.0, 2.0], [1.0]), "estimates of 2 draws and variances of 1"),
        (([[1.0], [1.0, 2.0]], [[1.0], [1.0]]), r"estimates of draw 2 have the shape \(2,\), those of draw 1 \(1,\)"),
        (([[1.0], [1.0]], [1.0, 1.0]), r"estimates of a draw have the shape \(1,\), their variances \(\)"),
        (([1.0, 2.0], [1.0, -0.5]), "variances of draw 2 hold -0.5, which is not a squared standard error"),
        (([1.0, 2.0], [math.nan, 1.0]), "variances of draw 1 hold nan"),
        (([1.0, 2.0], [None, 1.0]), "variances of draw 1 hold nan"),
        (([1.0, math.nan], [1.0, 1.0]), "estimates of draw 2 hold nan, which is not a finite number"),
        (([1.0, 2.0], [1.0, 1.0], None, 1.0), "confidence must lie between 0 and 1, such as 0.95, not 1.0"),
        (([1.0, 2.0], [1.0, 1.0], None, 95), "not 95"),
        (([1.0, 2.0], [1.0, 1.0], 0), "complete_df must be a positive number or None, not 0"),
        (([pd.Series({"a": 1.0}), pd.Series({"b": 1.0})], [[1.0], [1.0]]), "draw 2 have other labels"),
        (([pd.Series([1.0, 2.0], ["a", "a"])] * 2, [pd.Series([1.0, 2.0], ["a", "b"])] * 2), "other labels"),
    ],
)
def test_what_cannot_be_pooled(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        pool(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [pd.DataFrame({"a": [1.0]}), "12", 3.0, ["x", "y"], [[[1.0], 2.0], [1.0, 2.0]]])
def test_what_is_not_a_list_of_numbers(wrong):
    with pytest.raises(TypeError, match=r"must be a list with an entry for each completed table|are not numbers"):
        pool(wrong, [1.0, 1.0])


def test_intervals_cover_as_often_as_they_say():
    """The mean of 40 normal numbers of which 16 are missing, each imputed by Bayes' rule in 5 tables."""
    rng, n, seen, m, studies = np.random.default_rng(1), 40, 24, 5, 4000
    y = rng.normal(size=(studies, seen))
    center, spread = y.mean(axis=1), y.var(axis=1, ddof=1)
    means, variances = [], []
    for _ in range(m):
        sigma2 = spread * (seen - 1) / rng.chisquare(seen - 1, studies)
        mu = rng.normal(center, np.sqrt(sigma2 / seen))
        drawn = rng.normal(mu[:, None], np.sqrt(sigma2)[:, None], (studies, n - seen))
        table = np.concatenate([y, drawn], axis=1)
        means.append(table.mean(axis=1))
        variances.append(table.var(axis=1, ddof=1) / n)
    pooled = pool(means, variances, complete_df=n - 1)
    covered = ((pooled.low < 0) & (pooled.high > 0)).mean()
    assert abs(covered - 0.95) < 0.015  # four times the noise of 4000 studies
    assert np.mean(pooled.missing_information) == pytest.approx((n - seen) / n, abs=0.1)
