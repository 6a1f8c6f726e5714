"""Ranges of versions, by the rules of npm: ``^1.2``, ``~1.2.3``, ``>=1 <3``, ``1.x``, ``1 - 2``.

Each kind of range is turned into comparisons with whole versions. A pre-release lies in a range
only if one of these comparisons names a pre-release of the same release.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dcf.skills.version_order import LONGEST_VERSION, VersionOrder, version_order

_MAX_LENGTH = 200
_PRE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_NUMBER = r"(?:0|[1-9][0-9]{0,15}|[xX*])"
_PARTIAL = re.compile(
    rf"[v=]*(?P<major>{_NUMBER})(?:\.(?P<minor>{_NUMBER})"
    rf"(?:\.(?P<patch>{_NUMBER})(?:-(?P<pre>{_PRE}(?:\.{_PRE})*))?)?)?"
)
_VERSION = re.compile(rf"(?:(?:0|[1-9][0-9]*)\.){{2}}(?:0|[1-9][0-9]*)(?:-{_PRE}(?:\.{_PRE})*)?")
_PART = re.compile(r"(?P<operator>\^|~>?|>=|<=|>|<|=)?\s*(?P<version>[^\s<>=~^|][^\s<>=~^|]*)")
_HYPHEN = re.compile(r"\s*(?P<low>\S+)\s+-\s+(?P<high>\S+)\s*")

_ORDERED: dict[str, Callable[[VersionOrder, VersionOrder], bool]] = {
    ">=": lambda one, other: one >= other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    "<": lambda one, other: one < other,
    "=": lambda one, other: one == other,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A version on the left of ``operator``, ``bound`` on the right."""

    operator: str
    bound: VersionOrder

    def holds(self, version: VersionOrder) -> bool:
        return _ORDERED[self.operator](version, self.bound)


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Alternatives, of each of which all comparisons hold."""

    alternatives: tuple[tuple[Comparison, ...], ...]

    def holds(self, version: str) -> bool:
        """Whether ``version`` lies in the range; what is no version never does."""
        if len(version) > LONGEST_VERSION or not _VERSION.fullmatch(version):
            return False
        order = version_order(version)
        return any(_all_hold(comparisons, order) for comparisons in self.alternatives)


def _all_hold(comparisons: tuple[Comparison, ...], version: VersionOrder) -> bool:
    if not all(comparison.holds(version) for comparison in comparisons):
        return False
    release, is_release, _ = version
    return is_release or any(
        bound[0] == release and not bound[1] for bound in (one.bound for one in comparisons)
    )


def parse_range(text: str) -> VersionRange | None:
    """The range in ``text``, or None when it is none."""
    if not text.strip() or len(text) > _MAX_LENGTH:
        return None
    alternatives = [_alternative(part) for part in text.split("||")]
    found = tuple(one for one in alternatives if one is not None)
    return VersionRange(found) if len(found) == len(alternatives) else None


def _alternative(text: str) -> tuple[Comparison, ...] | None:
    hyphen = _HYPHEN.fullmatch(text)
    if hyphen:
        low, high = _compared(">=", hyphen["low"]), _compared("<=", hyphen["high"])
        return None if low is None or high is None else (*low, *high)
    comparisons: list[Comparison] = []
    position, bare = 0, text.strip()
    while position < len(bare):
        part = _PART.match(bare, position)
        found = _compared(part["operator"] or "", part["version"]) if part else None
        if part is None or found is None:
            return None
        comparisons.extend(found)
        position = part.end() + len(bare[part.end() :]) - len(bare[part.end() :].lstrip())
    return tuple(comparisons)


def _compared(operator: str, text: str) -> tuple[Comparison, ...] | None:
    """The comparisons that one part of a range stands for; None when it is no part of one."""
    match = _PARTIAL.fullmatch(text)
    if match is None:
        return None
    given = [int(n) if n and n.isdigit() else None for n in match.group("major", "minor", "patch")]
    known = given[: given.index(None)] if None in given else given
    numbers = [number for number in known if number is not None]
    if not numbers:  # any version; none is above or below all of them
        return (Comparison("<", _bound([0, 0, 0], "0")),) if operator in (">", "<") else ()
    whole = len(numbers) == 3
    low = _bound(numbers, match["pre"] if whole else None)
    above = _bound(_next(numbers, min(len(numbers), 2) - 1), "0")  # where the family ends
    match operator:
        case "^":
            first = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
            return Comparison(">=", low), Comparison("<", _bound(_next(numbers, first), "0"))
        case "~" | "~>":
            return Comparison(">=", low), Comparison("<", above)
        case "" | "=":
            if whole:
                return (Comparison("=", low),)
            return Comparison(">=", low), Comparison("<", above)
        case ">":
            if whole:
                return (Comparison(">", low),)
            return (Comparison(">=", _bound(_next(numbers, len(numbers) - 1), None)),)
        case "<=":
            return (Comparison("<=", low) if whole else Comparison("<", above),)
        case "<":
            return (Comparison("<", low if whole else _bound(numbers, "0")),)
    return (Comparison(">=", low),)


def _next(numbers: list[int], position: int) -> list[int]:
    """The first release in which the number at ``position`` is one higher."""
    return [*numbers[:position], numbers[position] + 1]


def _bound(numbers: list[int], pre: str | None) -> VersionOrder:
    release = ".".join(map(str, [*numbers, 0, 0][:3]))
    return version_order(f"{release}-{pre}" if pre else release)
