"""What agents and clients write into the guidelines (``update_conductor_guidelines``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dcf.advisors.strategist.errors import InvalidStrategistGuidelines
from dcf.advisors.strategist.fitting import fitted
from dcf.advisors.strategist.guidelines import StrategistGuidelines
from dcf.advisors.strategist.reading import json_of, parse_guidelines
from dcf.advisors.strategist.remark import Remark, as_claim
from dcf.advisors.strategist.rules import StrategistRules
from dcf.problem import Problem

_MERGED = (
    "skill_preferences",
    "companion_preferences",
    "companion_scaling",
    "model_selection",
)

_LONGEST = 2_000
"""Characters of a recommendation: all of it stands in the Conductor's context."""


@dataclass(frozen=True, slots=True)
class Updated:
    """``fields`` are the members that were written, ``dropped`` is what there was no room for and
    ``ignored`` which arguments had no say beside a stronger one."""

    guidelines: StrategistGuidelines
    fields: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def update(
    guidelines: StrategistGuidelines,
    *,
    now: int,
    rules: StrategistRules,
    guidelines_json: str | None = None,
    recommendation: str | None = None,
    skill_preferences_json: str | None = None,
    companion_preferences_json: str | None = None,
    companion_scaling_json: str | None = None,
    model_selection_json: str | None = None,
    clear_guidelines: bool = False,
) -> Updated:
    """Change ``guidelines`` at ``now`` (ms) by what somebody says.

    The strongest argument decides: ``clear_guidelines`` begins anew, ``guidelines_json`` takes the
    place of everything, the others are added: ``recommendation`` at the end, of the JSON objects
    each member. All of it is somebody's word: only remarks that are there already keep what was
    measured of them. Raises InvalidStrategistGuidelines with all problems of all arguments; then
    nothing is changed.
    """
    merged = {
        "skill_preferences": skill_preferences_json,
        "companion_preferences": companion_preferences_json,
        "companion_scaling": companion_scaling_json,
        "model_selection": model_selection_json,
    }
    given = {name: text for name, text in merged.items() if text is not None and text.strip()}
    said = recommendation.strip() if recommendation else ""
    weak = [*(f"{name}_json" for name in given), *(["recommendation"] if said else [])]
    is_whole = guidelines_json is not None and bool(guidelines_json.strip())
    if clear_guidelines:
        blank = StrategistGuidelines(
            revision=guidelines.revision, update_count=guidelines.update_count
        )
        ignored = ["guidelines_json", *weak] if is_whole else weak
        return _written(guidelines, blank, ["all"], now, rules, ignored)
    if is_whole:
        whole = _whole(guidelines, json_of(guidelines_json or "", "guidelines_json"), now)
        return _written(guidelines, whole, ["all"], now, rules, weak)
    document = _parsed(given, guidelines)
    if said:
        if len(said) > _LONGEST:
            raise InvalidStrategistGuidelines([_too_long(said)])
        document = replace(
            document, recommendations=(*document.recommendations, Remark(said, at=now))
        )
    fields = [*(["recommendations"] if said else []), *given]
    return _written(guidelines, _grounded(guidelines, document), fields, now, rules, [])


def written(
    before: StrategistGuidelines, after: StrategistGuidelines, now: int, *, is_other: bool
) -> StrategistGuidelines:
    """``after`` as it is written at ``now``; ``is_other`` tells whether it says anything else."""
    return replace(
        after,
        revision=before.revision + is_other,
        update_count=before.update_count + 1,
        updated_at=now,
    )


def _written(
    before: StrategistGuidelines,
    after: StrategistGuidelines,
    fields: list[str],
    now: int,
    rules: StrategistRules,
    ignored: list[str],
) -> Updated:
    if not fields:
        return Updated(before, ())
    small, dropped = fitted(after.complete(rules), rules)
    return Updated(
        written(before, small, now, is_other=True), tuple(fields), dropped, tuple(ignored)
    )


def _whole(before: StrategistGuidelines, document: Any, now: int) -> StrategistGuidelines:
    given = parse_guidelines(document)
    known = {remark.text: remark for remark in before.remarks}
    lists = {
        name: tuple(
            known.get(remark.text) or as_claim(remark, now) for remark in getattr(given, name)
        )
        for name in ("recommendations", "warnings")
    }
    return _grounded(before, replace(given.having(lists), withdrawn=before.withdrawn))


def _parsed(given: Mapping[str, str], guidelines: StrategistGuidelines) -> StrategistGuidelines:
    """``guidelines`` with the members of these JSON objects."""
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name, text in given.items():
        try:
            value = json_of(text, f"{name}_json")
            parse_guidelines({name: value})
        except InvalidStrategistGuidelines as invalid:
            problems += invalid.problems
            continue
        values[name] = {**getattr(guidelines, name), **value}
    if not problems and "companion_scaling" in values:
        try:
            parse_guidelines({"companion_scaling": values["companion_scaling"]})
        except InvalidStrategistGuidelines as invalid:
            problems += invalid.problems
    if problems:
        raise InvalidStrategistGuidelines(problems)
    return guidelines.having(values)


def _grounded(before: StrategistGuidelines, after: StrategistGuidelines) -> StrategistGuidelines:
    """``after`` without remarks in whose place somebody has written something else."""

    def holds(remark: Remark) -> bool:
        advice = remark.advice
        if advice is None or not advice.place or before.at(advice.place) != advice.value:
            return True
        return bool(after.at(advice.place) == advice.value)

    return replace(
        after,
        recommendations=tuple(filter(holds, after.recommendations)),
        warnings=tuple(filter(holds, after.warnings)),
    )


def _too_long(text: str) -> Problem:
    message = f"a recommendation has {len(text):,} characters; {_LONGEST:,} are the most"
    return Problem("GUIDELINE_VALUE", message, "/recommendation")
