"""What versions that do the same work say of each other.

Versions of one skill are rarely as different as a uniform prior has it, and the best of several is
partly the luckiest of them. So their rates are taken to be drawn from one distribution that is
itself learnt from them (a hierarchical model: Gelman et al., Bayesian Data Analysis, 3rd ed.,
chapter 5). It is Beta(1 + m k, 1 + (1 - m) k): m is what is usual among them, k how much alike they
are, from 0 (each says nothing of the others: the uniform prior) to some hundreds. All m are equally
probable, and so are all values of (1 + k / 2)^-1/2, which goes with the spread of rates (after the
prior of p. 110 there). Both are integrated over a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log, pi
from typing import TYPE_CHECKING

from dcf.evidence.beta import Beta
from dcf.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_USUAL = 20
_ALIKE = 8
_SHIFT = 7


def pooled(beliefs: Sequence[Beta]) -> tuple[Beta, ...]:
    """``beliefs`` from a uniform prior, each of the rate of one version, as they are in the light
    of the others: the Beta with the mean and variance of the mixture over all priors. A belief that
    stands alone stays as it is. What is returned is taken to be independent, which says of the
    differences between versions rather less than is known. Parameters must be, and are, >= 1.
    """
    if len(beliefs) < 2:
        return tuple(beliefs)
    first, second, alone = _priors()
    won = np.array([[belief.a - 1] for belief in beliefs])
    lost = np.array([[belief.b - 1] for belief in beliefs])
    a, b = first + won, second + lost
    logs = (_log_beta(a, b) - alone).sum(axis=0)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    means = a / (a + b)
    mean = (weights * means).sum(axis=1)
    off = means - mean[:, None]
    variance = (weights * (off**2 + means * (1 - means) / (a + b + 1))).sum(axis=1)
    sharpness = mean * (1 - mean) / variance - 1
    return tuple(
        Beta(max(1.0, float(share * sharp)), max(1.0, float((1 - share) * sharp)))
        for share, sharp in zip(mean, sharpness, strict=True)
    )


@cache
def _priors() -> tuple[Floats, Floats, Floats]:
    """The parameters of all priors, and ln B of each."""
    usual = (np.arange(_USUAL) + 0.5) / _USUAL
    alike = 2 / ((np.arange(_ALIKE) + 0.5) / _ALIKE) ** 2 - 2
    first = (1 + np.outer(alike, usual)).ravel()
    second = (1 + np.outer(alike, 1 - usual)).ravel()
    return first, second, _log_beta(first, second)


def _log_beta(a: Floats, b: Floats) -> Floats:
    return _log_gamma(a) + _log_gamma(b) - _log_gamma(a + b)


def _log_gamma(x: Floats) -> Floats:
    """ln of the gamma function of x >= 1 to eleven digits: Stirling's series at x + 7 (DLMF 5.11.1,
    5.5.1). numpy has none."""
    rising = np.prod([x + step for step in range(_SHIFT)], axis=0)
    y = x + _SHIFT
    z = 1 / y**2
    series = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680))) / y
    return np.asarray((y - 0.5) * np.log(y) - y + log(2 * pi) / 2 + series - np.log(rising))
