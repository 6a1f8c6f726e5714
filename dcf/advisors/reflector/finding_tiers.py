"""What an analysis shows of complexity: whether tiers are right."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.advisors.analysis import Analysis, Recalibration
from dcf.advisors.reflector.draft import Draft, above, evidence_of
from dcf.evidence import Counts, wilson


def wrong_tier(recalibration: Recalibration) -> Iterator[Draft]:
    """A skill whose score does not fit what its work turned out to be."""
    if not recalibration.signals:
        return
    measures = {signal.name: signal.measured for signal in recalibration.signals}
    if recalibration.adjustment is not None:
        measures["suggested_fcs_adjustment"] = recalibration.adjustment
    said = " and ".join(
        f"{signal.name.replace('_', ' ')} {signal.measured:.0%} (limit {signal.limit:.0%})"
        for signal in recalibration.signals
    )
    yield Draft(
        category="model_selection",
        topic="tier",
        condition={"skill": recalibration.skill},
        prefer=recalibration.action,
        avoid=None,
        reason=f"{recalibration.skill} at tier {recalibration.tier}: {said}",
        evidence=evidence_of(
            recalibration, recalibration.n, tier=float(recalibration.tier), **measures
        ),
        confidence=max(signal.confidence for signal in recalibration.signals),
    )


def crowded_top_tier(analysis: Analysis) -> Iterator[Draft]:
    """More work of the highest tier than there should be."""
    share = analysis.tier_share
    if not share.is_high:
        return
    low, high = wilson(share.top, share.n)
    shown = [one for one in analysis.recalibrations if one.tier >= 3] or analysis.recalibrations
    latest = max(shown, key=lambda one: one.last_at)
    yield Draft(
        category="warning",
        topic="top_tier",
        condition={},
        prefer="look over the complexity profiles of the skills that score highest",
        avoid=None,
        reason=f"{share.share:.0%} of {share.n} outcomes were predicted to be of the highest tier",
        evidence=evidence_of(latest, share.n, share=share.share, low=low, high=high),
        confidence=above(Counts(share.top, share.n - share.top), share.LIMIT),
        severity="low",
    )
