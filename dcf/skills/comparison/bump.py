"""What a step from one version to another promises (Semantic Versioning 2.0.0)."""

from __future__ import annotations

from typing import Literal

from dcf.skills.comparison.change import BUMPS, Bump
from dcf.skills.version_order import version_order

Step = Literal["none", "patch", "minor", "major", "lower"]


def step_between(before: str, after: str) -> Step:
    """Which number went up first; ``lower`` when the version went down."""
    one, other = version_order(before), version_order(after)
    if one == other:
        return "none"
    if other < one:
        return "lower"
    for name, old, new in zip(_PARTS, one[0], other[0], strict=False):
        if old != new:
            return name
    return "patch"


_PARTS: tuple[Step, ...] = ("major", "minor", "patch")


def is_enough(before: str, after: str, asked: Bump) -> bool:
    """Whether the step to ``after`` is at least what the changes ask for.

    Below 1.0.0 one number less is enough, as ranges see it: ``^0.2`` does not take 0.3. A
    pre-release promises nothing: what follows it need only be higher.
    """
    step = step_between(before, after)
    if asked == "none":
        return step != "lower"
    if step in ("none", "lower"):
        return False
    if "-" in before:
        return True
    return BUMPS.index(step) >= BUMPS.index(_shifted(asked) if before.startswith("0.") else asked)


def _shifted(asked: Bump) -> Bump:
    return {"major": "minor", "minor": "patch"}.get(asked, asked)  # type: ignore[return-value]


def next_version(before: str, asked: Bump) -> str:
    """The lowest version after ``before`` that is enough."""
    major, minor, patch = version_order(before)[0]
    if asked == "none":
        return before
    if "-" in before:
        return f"{major}.{minor}.{patch}"
    match _shifted(asked) if major == 0 else asked:
        case "major":
            return f"{major + 1}.0.0"
        case "minor":
            return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}"
