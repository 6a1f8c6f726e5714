"""Dependencies between skills: each range resolved to one skill of the tree, cycles refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

from dcf.problem import Problem
from dcf.skills.authoring.place import Place
from dcf.skills.version import is_range, newest, parse_ref
from dcf.skills.version_order import version_order


@dataclass(slots=True)
class Dependencies:
    """``resolved``: for each manifestId its dependencies as written, with the manifestId that each
    stands for (the newest in the range)."""

    resolved: dict[str, dict[str, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Offer:
    """All skills of the tree: name -> version -> manifestId. ``broken`` are the names of those that
    are there and cannot be read."""

    versions: dict[str, dict[str, str]]
    broken: Collection[str]

    def find(self, name: str) -> dict[str, str] | None:
        found = self.versions.get(name)
        if found is None and name.startswith("skill."):
            found = self.versions.get(name.removeprefix("skill."))
        return found


def resolve_dependencies(skills: list[Place], broken: Collection[str] = ()) -> Dependencies:
    """Every dependency of every skill, and what is wrong with them; ``broken`` are the names of
    skills that cannot be read, which is said elsewhere."""
    offer = _offer(skills, broken)
    found = Dependencies()
    lines: dict[tuple[str, str], Place] = {}
    for skill in skills:
        own = skill.text("metadata", "manifestId")
        declared = skill.inside("spec", "dependencies")
        if own is None:
            continue
        resolved = found.resolved.setdefault(own, {})
        for place in declared.elements() if declared else ():
            if not isinstance(place.value, str):
                continue  # said by the shape check
            target = _resolve(place, own, offer, found.problems)
            if target is not None:
                resolved[place.value] = target
                lines[own, target] = place
    found.problems.extend(_cycles(found.resolved, lines))
    return found


def _offer(skills: list[Place], broken: Collection[str]) -> _Offer:
    versions: dict[str, dict[str, str]] = {}
    for skill in skills:
        name, version = skill.text("metadata", "name"), skill.text("metadata", "version")
        manifest_id = skill.text("metadata", "manifestId")
        if name and version and manifest_id:
            versions.setdefault(name.lower(), {}).setdefault(version, manifest_id)
    return _Offer(versions, broken)


def _resolve(place: Place, own: str, offer: _Offer, problems: list[Problem]) -> str | None:
    ref = parse_ref(place.value)
    versions = offer.find(ref.name)
    version = newest(versions, ref.wanted) if versions and is_range(ref.wanted) else None
    if version is None and ref.name.removeprefix("skill.") in offer.broken:
        message = f"the skill {ref.name!r} has errors, so that nothing can be said of it"
        hint = "mend it first: its problems are listed with its file"
        problems.append(place.problem("SKILL_DEPENDENCY_BROKEN", message, hint))
        return None
    if versions is None:
        near = get_close_matches(ref.name.removeprefix("skill."), offer.versions, n=1)
        hint = f"did you mean {near[0]}?" if near else "name a skill of this tree"
        message = f"there is no skill {ref.name!r} in this tree"
        problems.append(place.problem("SKILL_DEPENDENCY_UNKNOWN", message, hint))
        return None
    if not is_range(ref.wanted):
        message = f"{ref.wanted!r} is no range of versions"
        hint = "write ^1.2, ~1.2.3, >=1 <3, 1.x or 1.0.0 after the @"
        problems.append(place.problem("SKILL_DEPENDENCY_RANGE", message, hint))
        return None
    if version is None:
        there = ", ".join(sorted(versions, key=_order))
        message = f"no version of {ref.name} lies in {ref.wanted}"
        hint = f"there is {there}; widen the range, or add the version"
        problems.append(place.problem("SKILL_DEPENDENCY_UNSATISFIED", message, hint))
        return None
    if versions[version] == own:
        message = "the skill depends on itself"
        problems.append(place.problem("SKILL_DEPENDENCY_SELF", message, "remove the line"))
        return None
    return versions[version]


def _order(version: str) -> tuple[bool, object]:
    # A version of a wrong form is reported elsewhere; here it only must not raise.
    try:
        return False, version_order(version)
    except ValueError:
        return True, version


def _cycles(
    resolved: dict[str, dict[str, str]], lines: dict[tuple[str, str], Place]
) -> Iterator[Problem]:
    """Each cycle once, placed at the line that leads on from its first skill."""
    graph = {own: sorted(set(targets.values())) for own, targets in sorted(resolved.items())}
    while True:
        try:
            TopologicalSorter(graph).prepare()
            return
        except CycleError as error:
            round_trip: list[str] = list(reversed(error.args[1]))[1:]
        start = round_trip.index(min(round_trip))
        ring = [*round_trip[start:], *round_trip[:start]]
        shown = " -> ".join([*ring, ring[0]])
        message = f"the dependencies go in a circle: {shown}"
        hint = "remove one of them, or move what both need into a third skill"
        yield lines[ring[0], ring[1]].problem("SKILL_DEPENDENCY_CYCLE", message, hint)
        for member in ring:
            graph[member] = [target for target in graph[member] if target not in ring]
