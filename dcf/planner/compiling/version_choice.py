"""Which version of a skill: pinned, wished for by a person, measured, told of, or the newest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from dcf.evidence import INFERIOR, Choice, Counts, Record, choose, is_non_inferior
from dcf.guidelines import SkillRecommendation
from dcf.planner.compiling.market import Market
from dcf.skills import Manifest, newest, version_order


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """``why`` says by what the version was chosen; ``choice`` is what the measures say of it and of
    the others, None where nothing was measured or nothing was to be chosen."""

    manifest: Manifest
    why: str
    choice: Choice | None = None

    @property
    def explored(self) -> bool:
        """Whether it was taken to learn about it."""
        return self.choice is not None and self.choice.explored


def choose_version(
    market: Market, found: Manifest, wanted: str | None, task_type: str
) -> VersionChoice:
    """The version to use of the skill that ``found`` is one version of, for a task of
    ``task_type``; ``wanted`` is what the procedure says of it: an exact version, a range, or None.
    Whatever it was chosen by, what was measured of it is said.

    What a person wrote into the guidelines is followed. What was measured goes by the measures
    themselves, not by the guideline that a reflection made of them: so that measuring goes on, and
    what was better once does not stay so. What else was said counts among what nobody measured.
    """
    records = market.measured.records(task_type) if market.measured else {}
    if wanted is not None and wanted == found.version:
        return _with_record(found, "the version that the step names", records)
    versions = _versions(market, found, wanted)
    if len(versions) == 1:
        only = "the only version" + (f" in {wanted}" if wanted else "")
        return _with_record(found, only, records)
    advice = market.guidelines.for_task(task_type)
    wishes = [one for one in advice if one.written_by == "person" and one.insight is None]
    preferred = _preferred(versions, wishes)
    if preferred is not None:
        return _with_record(*preferred, records)
    left, avoided = _without_avoided(versions, wishes)
    others = [one for one in advice if one not in wishes]
    told = _preferred(left, [one for one in others if one.goal is None])
    if any(each.manifest_id in records for each in left):
        source = None if market.seed is None else Random(f"{market.seed}/{task_type}/{found.name}")
        chosen = _measured(_told_first(left, told), records, others, source)
    elif told is not None:
        chosen = VersionChoice(*told)
    else:
        chosen = VersionChoice(left[0], "the newest version")
    why = f"{chosen.why}; {avoided}" if avoided else chosen.why
    return VersionChoice(chosen.manifest, why, chosen.choice)


def _with_record(manifest: Manifest, why: str, records: Mapping[str, Record]) -> VersionChoice:
    record = records.get(manifest.manifest_id)
    return VersionChoice(manifest, f"{why}; {record.told()}" if record else why)


def _measured(
    versions: Sequence[Manifest],
    records: Mapping[str, Record],
    advice: Sequence[SkillRecommendation],
    random: Random | None,
) -> VersionChoice:
    """The one that is drawn with ``random``, or recommended by ``records`` without; where that is
    the recommended one, a faster one that succeeds about as often."""
    choice = choose(
        [each.manifest_id for each in versions],
        records,
        random=random or Random(0),
        explore=random is not None,
    )
    chosen = next(each for each in versions if each.manifest_id == choice.version)
    why = choice.reason
    faster = None if choice.explored else _faster(versions, records, advice, chosen)
    if faster is not None:
        chosen, quick = faster
        why = f"{quick}; {why}"
    rate = f"exploring: {choice.exploration:.0%} of plannings try another one"
    return VersionChoice(
        chosen, f"{why}; {'exploring is switched off' if random is None else rate}", choice
    )


def _faster(
    versions: Sequence[Manifest],
    records: Mapping[str, Record],
    advice: Sequence[SkillRecommendation],
    best: Manifest,
) -> tuple[Manifest, str] | None:
    """One that was measured to be faster than others and, by what is known now, succeeds about as
    often as the ``best``; and why it is taken."""
    for one in advice:
        faster = _named_in(one.prefer, versions)
        if faster is None or faster is best or one.goal != "speed" or one.insight is None:
            continue
        if _is_as_good(records.get(faster.manifest_id), records.get(best.manifest_id)):
            loss = f"{faster.version} succeeds at most {INFERIOR:.0%} less often"
            return faster, f"{loss}, and is faster by {_said(one)}"
    return None


def _is_as_good(one: Record | None, other: Record | None) -> bool:
    if one is None or other is None:
        return False
    first, second = (Counts(round(each.successes), round(each.failures)) for each in (one, other))
    return is_non_inferior(first, second)


def _versions(market: Market, found: Manifest, wanted: str | None) -> list[Manifest]:
    """The versions to choose among, the newest first; pre-releases only where one was found."""
    same = [each for each in market.catalog if each.name == found.name]
    held = [each for each in same if wanted is None or newest((each.version,), wanted) is not None]
    stable = [each for each in held if "-" not in each.version]
    usable = stable if found in stable else held
    return sorted(usable, key=lambda each: version_order(each.version), reverse=True)


def _preferred(
    versions: Sequence[Manifest], advice: Sequence[SkillRecommendation]
) -> tuple[Manifest, str] | None:
    for one in advice:
        version = _named_in(one.prefer, versions)
        if version is not None:
            return version, f"preferred by {_said(one)}"
    return None


def _told_first(
    versions: Sequence[Manifest], told: tuple[Manifest, str] | None
) -> Sequence[Manifest]:
    """The order among equals."""
    if told is None:
        return versions
    return [told[0], *(each for each in versions if each is not told[0])]


def _without_avoided(
    versions: Sequence[Manifest], advice: Sequence[SkillRecommendation]
) -> tuple[list[Manifest], str]:
    """The versions that no advice is against, all where it is against each of them; and why."""
    told: list[str] = []
    left = []
    for version in versions:
        against = next((one for one in advice if _named_in(one.avoid, [version])), None)
        if against is None:
            left.append(version)
        else:
            told.append(f"{version.version} is avoided by {_said(against)}")
    return (left, "; ".join(told)) if left else (list(versions), "")


def _said(advice: SkillRecommendation) -> str:
    who = {2: "a person", 1: "an earlier reflection", 0: "an agent, unverified"}[advice.rank]
    told = f": {advice.reason}" if advice.reason else ""
    return f"the guideline {advice.condition!r} of {who}{told}"


def _named_in(ref: str | None, versions: Sequence[Manifest]) -> Manifest | None:
    """The version that ``ref`` names exactly."""
    if not ref:
        return None
    wanted = ref.lower()
    named = (each for each in versions if wanted in (alias.lower() for alias in each.aliases))
    return next(named, None)
