"""What versions that do the same work say of each other."""

from __future__ import annotations

from math import lgamma

import numpy as np
import pytest

from dcf.evidence import Beta
from dcf.evidence.pooling import _log_gamma, pooled


def test_one_alone_stays_as_it_is() -> None:
    assert pooled([Beta(10, 3)]) == (Beta(10, 3),)


def test_rates_move_towards_each_other_and_keep_their_order() -> None:
    alone = [Beta(46, 6), Beta(40, 12), Beta(43, 9)]
    together = pooled(alone)
    assert together[0].mean > together[2].mean > together[1].mean
    assert together[0].mean < alone[0].mean
    assert together[1].mean > alone[1].mean


def test_much_evidence_is_hardly_moved() -> None:
    alone = [Beta(9_000, 1_000), Beta(5_000, 5_000)]
    for one, before in zip(pooled(alone), alone, strict=True):
        assert one.mean == pytest.approx(before.mean, abs=0.002)


def test_what_was_never_tried_is_expected_to_be_like_the_others() -> None:
    *_, new = pooled([Beta(91, 11), Beta(89, 13), Beta(1, 1)])
    assert 0.6 < new.mean < 0.9
    assert new.deviation > 0.05


def test_the_order_of_versions_does_not_matter() -> None:
    alone = [Beta(9, 3), Beta(2, 8), Beta(30, 30)]
    backwards = pooled(alone[::-1])[::-1]
    for one, other in zip(pooled(alone), backwards, strict=True):
        assert one.mean == pytest.approx(other.mean)
        assert one.deviation == pytest.approx(other.deviation)


def test_the_logarithm_of_gamma_is_that_of_the_standard_library() -> None:
    values = np.array([1.0, 1.5, 2.0, 10.25, 511.0, 1e5])
    expected = [lgamma(value) for value in values]
    assert _log_gamma(values) == pytest.approx(expected, abs=1e-9, rel=1e-11)
