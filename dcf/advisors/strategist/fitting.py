"""What of guidelines there is room for. What there is none for is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dcf.advisors.strategist.guidelines import StrategistGuidelines
from dcf.advisors.strategist.remark import Remark
from dcf.advisors.strategist.rules import StrategistRules


def fitted(
    guidelines: StrategistGuidelines, rules: StrategistRules
) -> tuple[StrategistGuidelines, tuple[str, ...]]:
    """``guidelines`` within the limits of the rules, and what was dropped for that, in words.

    Of each list the oldest go first, by when they were last borne out; for want of bytes what was
    withdrawn goes first, then remarks of either list, then what is said for types of task and
    skills, the last ones first. What programs follow goes with the remark that is its reason.
    """
    dropped: list[str] = []
    for name in ("recommendations", "warnings"):
        remarks: tuple[Remark, ...] = getattr(guidelines, name)
        oldest = sorted(remarks, key=lambda one: one.age)
        for remark in oldest[: max(0, len(remarks) - rules.guidelines.recommendations)]:
            guidelines = without(guidelines, remark)
            dropped.append(f"{name}: {remark.text}")
    for step in (_withdrawn, _remarks, _entries):
        guidelines = step(guidelines, rules.guidelines.bytes, dropped)
    return guidelines, tuple(dropped)


def without(guidelines: StrategistGuidelines, remark: Remark) -> StrategistGuidelines:
    """Without ``remark``, and without what programs follow because of it."""
    left = replace(
        guidelines,
        recommendations=tuple(one for one in guidelines.recommendations if one is not remark),
        warnings=tuple(one for one in guidelines.warnings if one is not remark),
    )
    advice = remark.advice
    if advice is None or not advice.place or left.at(advice.place) != advice.value:
        return left
    others = (one.advice for one in left.remarks if one.advice is not None)
    is_said = any(one.place == advice.place and one.value == advice.value for one in others)
    return left if is_said else left.put(advice.place, None)


def _is_long(guidelines: StrategistGuidelines, limit: int) -> bool:
    return len(guidelines.text.encode()) > limit


def _withdrawn(
    guidelines: StrategistGuidelines, limit: int, dropped: list[str]
) -> StrategistGuidelines:
    while guidelines.withdrawn and _is_long(guidelines, limit):
        dropped.append(f"withdrawn: {guidelines.withdrawn[0].why}")
        guidelines = replace(guidelines, withdrawn=guidelines.withdrawn[1:])
    return guidelines


def _remarks(
    guidelines: StrategistGuidelines, limit: int, dropped: list[str]
) -> StrategistGuidelines:
    while guidelines.remarks and _is_long(guidelines, limit):
        oldest = min(guidelines.remarks, key=lambda one: one.age)
        guidelines = without(guidelines, oldest)
        dropped.append(oldest.text)
    return guidelines


def _entries(
    guidelines: StrategistGuidelines, limit: int, dropped: list[str]
) -> StrategistGuidelines:
    takes: tuple[Callable[[StrategistGuidelines], tuple[str, ...] | None], ...] = (
        lambda one: _last(one, "skill_preferences"),
        lambda one: _last(one, "companion_preferences"),
        lambda one: _last(one, "model_selection", "task_type_tiers"),
        lambda one: _last(one, "model_selection", "skill_tier_overrides"),
        lambda one: _last(one, "more"),
    )
    for take in takes:
        while _is_long(guidelines, limit) and (place := take(guidelines)) is not None:
            guidelines = guidelines.put(place, None)
            dropped.append("/".join(place))
    return guidelines


def _last(guidelines: StrategistGuidelines, *place: str) -> tuple[str, ...] | None:
    members = list(guidelines.at(place) or ())
    return (*place, members[-1]) if members else None
