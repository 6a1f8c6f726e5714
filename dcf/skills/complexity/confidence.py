"""How sure a complexity score is."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.skills.complexity.profile import ComplexityProfile, Maturity
from dcf.skills.complexity.score import Score

_MATURITY_FACTOR: dict[Maturity, float] = {
    "provisional": 1.5,
    "emerging": 1.2,
    "validated": 1.0,
    "stable": 0.8,
}
_SAMPLE_FACTOR = ((10, 1.5), (30, 1.2), (100, 1.0))
_MANY_SAMPLES = 0.8
_SHARE = 0.1


def confidence_interval(
    result: Score, profiles: Sequence[ComplexityProfile]
) -> tuple[float, float]:
    """Bounds around the FCS: a tenth of the WCS either way, times the mean factor of the profiles'
    maturity, times the factor of the fewest samples behind any of them. Without a profile it is as
    wide as for one that nothing supports. Never below 0; three places."""
    factors = [_MATURITY_FACTOR[profile.maturity] for profile in profiles] or [1.5]
    fewest = min((profile.samples for profile in profiles), default=0)
    sample = next((factor for below, factor in _SAMPLE_FACTOR if fewest < below), _MANY_SAMPLES)
    margin = result.wcs * _SHARE * (sum(factors) / len(factors)) * sample
    return round(max(0.0, result.fcs - margin), 3), round(result.fcs + margin, 3)
