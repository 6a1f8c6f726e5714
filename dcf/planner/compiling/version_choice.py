"""Which version of a skill: pinned, advised, measured, or the newest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from dcf.evidence import choose
from dcf.guidelines import SkillRecommendation
from dcf.planner.compiling.market import Market
from dcf.skills import Manifest, newest, version_order


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """``why`` says by what the version was chosen; ``explored`` that it was taken to learn about
    it, ``confidence`` how probable it is that no other version is better, None without measures."""

    manifest: Manifest
    why: str
    explored: bool = False
    confidence: float | None = None


def choose_version(market: Market, found: Manifest, wanted: str | None) -> VersionChoice:
    """The version to use of the skill that ``found`` is one version of; ``wanted`` is what the
    procedure says of it: an exact version, a range, or None."""
    if wanted is not None and wanted == found.version:
        return VersionChoice(found, "the version that the step names")
    versions = _versions(market, found, wanted)
    if len(versions) == 1:
        return VersionChoice(found, "the only version" + (f" in {wanted}" if wanted else ""))
    advice = market.guidelines.for_task(found.name)
    preferred = _preferred(versions, advice)
    if preferred is not None:
        return preferred
    left, avoided = _without_avoided(versions, advice)
    why = f"; {avoided}" if avoided else ""
    records = market.measured.records(found.name) if market.measured else {}
    candidates = [each.manifest_id for each in left]
    if not any(candidate in records for candidate in candidates):
        return VersionChoice(left[0], f"the newest version{why}")
    choice = choose(
        candidates,
        records,
        random=market.random or Random(0),
        explore=market.random is not None,
    )
    chosen = next(each for each in left if each.manifest_id == choice.version)
    return VersionChoice(chosen, f"{choice.reason}{why}", choice.explored, choice.confidence)


def _versions(market: Market, found: Manifest, wanted: str | None) -> list[Manifest]:
    """The versions to choose among, the newest first; pre-releases only where one was found."""
    same = [each for each in market.catalog if each.name == found.name]
    held = [each for each in same if wanted is None or newest((each.version,), wanted) is not None]
    stable = [each for each in held if "-" not in each.version]
    usable = stable if found in stable else held
    return sorted(usable, key=lambda each: version_order(each.version), reverse=True)


def _preferred(
    versions: Sequence[Manifest], advice: Sequence[SkillRecommendation]
) -> VersionChoice | None:
    for one in advice:
        for version in versions:
            if one.prefer and _names(one.prefer, version):
                return VersionChoice(version, _said("preferred", one), confidence=one.confidence)
    return None


def _without_avoided(
    versions: Sequence[Manifest], advice: Sequence[SkillRecommendation]
) -> tuple[list[Manifest], str]:
    """The versions that no advice is against, all where it is against each of them; and why."""
    told: list[str] = []
    left = []
    for version in versions:
        against = next((one for one in advice if one.avoid and _names(one.avoid, version)), None)
        if against is None:
            left.append(version)
        else:
            told.append(f"{version.version} is avoided ({_said('advised', against)})")
    return (left, "; ".join(told)) if left else (list(versions), "")


def _said(what: str, advice: SkillRecommendation) -> str:
    told = f": {advice.reason}" if advice.reason else ""
    return f"{what} by the guideline {advice.condition!r}{told}"


def _names(ref: str, manifest: Manifest) -> bool:
    """Whether ``ref`` is exactly this version."""
    return ref.lower() in (alias.lower() for alias in manifest.aliases)
