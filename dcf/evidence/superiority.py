"""With which probability one of several is the best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from dcf.evidence.beta import Beta, log_beta
from dcf.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_NODES = 16
"""Per panel. Densities are smooth within a panel: 16 nodes leave errors of about 1e-9."""
_BORDERS = (-10, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 10)
"""Where panels end, in standard deviations from the mean of each distribution."""


def best_probabilities(beliefs: Sequence[Beta]) -> tuple[float, ...]:
    """For each of ``beliefs``, the probability that it is the largest, all being independent.

    P(i is best) = integral of f_i(x) * product of F_j(x), j != i. The integral goes over panels
    that follow the shape of every distribution, with Gauss-Legendre nodes in each, and the F_j at
    the nodes come from integrating the interpolating polynomial of f_j. Parameters must be >= 1.
    """
    if len(beliefs) == 1:
        return (1.0,)
    nodes, weights, running = _rule()
    borders = _borders(beliefs)
    half = np.diff(borders)[:, None] / 2
    x = borders[:-1, None] + half * (nodes + 1)
    below, inside = np.log(x), np.log1p(-x)
    densities = np.stack(
        [
            np.exp((belief.a - 1) * below + (belief.b - 1) * inside - log_beta(belief.a, belief.b))
            for belief in beliefs
        ]
    )
    masses = (densities * weights * half).sum(axis=2)
    begun = np.cumsum(masses, axis=1) - masses
    cumulated = begun[:, :, None] + half * (densities @ running)
    total = masses.sum(axis=1)[:, None, None]
    densities, cumulated = densities / total, np.clip(cumulated / total, 0, 1)
    shares = [
        float((densities[i] * np.delete(cumulated, i, axis=0).prod(axis=0) * weights * half).sum())
        for i in range(len(beliefs))
    ]
    whole = sum(shares)
    return tuple(share / whole for share in shares)


def probability_greater(first: Beta, second: Beta) -> float:
    """P(first > second), independent."""
    return best_probabilities((first, second))[0]


def _borders(beliefs: Sequence[Beta]) -> Floats:
    ends = [belief.mean + at * belief.deviation for belief in beliefs for at in _BORDERS]
    inner = np.array([end for end in ends if 0 < end < 1])
    return np.unique(np.concatenate(([0.0], inner, [1.0])))


@cache
def _rule() -> tuple[Floats, Floats, Floats]:
    """Nodes and weights on [-1, 1], and the matrix that takes values at the nodes to integrals from
    -1 to each node: the integral of the Legendre polynomial P_k is (P_k+1 - P_k-1) / (2k + 1)."""
    legendre = np.polynomial.legendre
    nodes, weights = legendre.leggauss(_NODES)
    values = legendre.legvander(nodes, _NODES)
    integrals = np.empty((_NODES, _NODES))
    integrals[:, 0] = nodes + 1
    for k in range(1, _NODES):
        integrals[:, k] = (values[:, k + 1] - values[:, k - 1]) / (2 * k + 1)
    running = integrals @ np.linalg.inv(values[:, :_NODES])
    return nodes, weights, running.T
