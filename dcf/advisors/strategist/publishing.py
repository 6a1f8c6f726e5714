"""From an analysis to guidelines: what is said anew, what is said no longer, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dcf.advisors.strategist.analysis import Analysis
from dcf.advisors.strategist.finding import Finding
from dcf.advisors.strategist.fitting import fitted, without
from dcf.advisors.strategist.guidelines import StrategistGuidelines, Withdrawn
from dcf.advisors.strategist.remark import WARNINGS, Remark, remark_of
from dcf.advisors.strategist.rules import StrategistRules
from dcf.advisors.strategist.updating import written

What: TypeAlias = Literal["published", "withdrawn", "expired", "superseded", "kept", "dropped"]
_SCALING = ("scale_up", "scale_down")


@dataclass(frozen=True, slots=True)
class Change:
    """``what`` became of ``text``, and ``why``; ``id`` is that of the advice. ``kept`` is said
    where somebody's own word stands and was not touched, ``dropped`` where there was no room."""

    what: What
    text: str
    why: str
    id: str | None = None


def publish(
    analysis: Analysis, guidelines: StrategistGuidelines, rules: StrategistRules, now: int
) -> tuple[StrategistGuidelines, tuple[Change, ...]]:
    """``guidelines`` (complete ones) after ``analysis`` at ``now`` (ms), and what changed and why.

    Said is what the analysis may publish, each with its evidence, confidence and expiry. Withdrawn
    is what did harm (``follow``), has expired, or of which at least as many outcomes as it was said
    with do not make sure any more. What programs follow, and somebody else wrote, stays as it is.
    """
    changes: list[Change] = []
    after = _without_old(analysis, guidelines, rules, now, changes)
    harmful = {one.id: one for one in after.withdrawn}
    # What succeeds comes before what is quick, and what is newly certain before the rest.
    found = sorted(analysis.published, key=lambda one: "goal" in one.subject)
    for finding in found:
        if finding.id in harmful:
            continue
        after = _said(after, finding, rules, now, changes)
    after, dropped = fitted(after, rules)
    changes += [Change("dropped", text, "there is no room for it") for text in dropped]
    if after == guidelines:
        return guidelines, ()
    return written(guidelines, after, now, is_other=bool(changes)), tuple(changes)


def _without_old(
    analysis: Analysis,
    guidelines: StrategistGuidelines,
    rules: StrategistRules,
    now: int,
    changes: list[Change],
) -> StrategistGuidelines:
    found = {one.id: one for one in analysis.findings}
    for remark in guidelines.remarks:
        change = _over(remark, found.get(remark.id or ""), rules, now)
        if change is None:
            continue
        changes.append(change)
        guidelines = without(guidelines, remark)
        if change.what == "withdrawn" and change.id is not None and remark.followed is not None:
            harm = Withdrawn(change.id, now, f"{remark.text}: {change.why}")
            guidelines = replace(guidelines, withdrawn=(*guidelines.withdrawn, harm))
    remembered = tuple(one for one in guidelines.withdrawn if now - one.at <= rules.expiry_ms)
    return replace(guidelines, withdrawn=remembered)


def _over(
    remark: Remark, finding: Finding | None, rules: StrategistRules, now: int
) -> Change | None:
    """Why ``remark`` does not hold any more; None if it does."""
    followed = remark.followed
    if followed is not None and followed.verdict == "hurt":
        worse = f"followed, it went {-(followed.difference or 0):.0%} worse than before"
        return Change("withdrawn", remark.text, worse, remark.id)
    if remark.expires_at is not None and remark.expires_at <= now:
        return Change("expired", remark.text, "nothing has borne it out since", remark.id)
    if finding is None or finding.is_published or finding.kind in _SCALING:
        return None
    if finding.observations >= remark.observations and finding.confidence <= rules.confidence:
        less = f"of {finding.observations} outcomes it is only {finding.confidence:.0%} sure"
        return Change("expired", remark.text, less, remark.id)
    return None


def _said(
    guidelines: StrategistGuidelines,
    finding: Finding,
    rules: StrategistRules,
    now: int,
    changes: list[Change],
) -> StrategistGuidelines:
    """With what ``finding`` says."""
    lasts = rules.scaling.valid_ms if finding.kind in _SCALING else rules.expiry_ms
    remark = remark_of(finding, now, now + lasts)
    name = "warnings" if finding.kind in WARNINGS else "recommendations"
    remarks: tuple[Remark, ...] = getattr(guidelines, name)
    known = next((one for one in remarks if one.id == finding.id), None)
    why = (
        f"{finding.observations} outcomes, {finding.confidence:.0%} sure, p = {finding.p_value:.2g}"
    )
    guidelines, is_taken = _placed(guidelines, remark, changes)
    if known is None:
        if is_taken:
            changes.append(Change("kept", finding.text, "somebody wrote otherwise", finding.id))
        else:
            changes.append(Change("published", finding.text, why, finding.id))
        remarks = (*getattr(guidelines, name), remark)
        return guidelines.having({name: remarks})
    if known.advice is not None and known.advice.value != finding.value:
        changes.append(Change("published", finding.text, why, finding.id))
    is_new = finding.observations > known.observations or finding.kind in _SCALING
    newer = replace(
        remark,
        at=known.at,
        last_evidence_at=now if is_new else known.last_evidence_at,
        expires_at=remark.expires_at if is_new else known.expires_at,
        followed=known.followed,
    )
    others = getattr(guidelines, name)
    return guidelines.having(
        {name: tuple(newer if one.id == finding.id else one for one in others)}
    )


def _placed(
    guidelines: StrategistGuidelines, remark: Remark, changes: list[Change]
) -> tuple[StrategistGuidelines, bool]:
    """With the value of ``remark`` where programs look for it; whether somebody's word is there."""
    advice = remark.advice
    if advice is None or not advice.place:
        return guidelines, False
    there = guidelines.at(advice.place)
    reason = next(
        (
            one
            for one in guidelines.remarks
            if one.advice is not None
            and one.advice.place == advice.place
            and one.advice.value == there
        ),
        None,
    )
    if there is not None and reason is None:
        return guidelines, there != advice.value
    if reason is not None and reason.id != remark.id:
        if "goal" in advice.subject:
            # What succeeds most is followed; that another one is quicker is only said.
            return guidelines, False
        guidelines = without(guidelines, reason)
        changes.append(Change("superseded", reason.text, remark.text, reason.id))
    return guidelines.put(advice.place, advice.value), False
