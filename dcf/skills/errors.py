"""What can go wrong when skills are looked up."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.problem import Problem

_SHOWN = 200
"""Characters of a reference in a message."""


class SkillError(Exception):
    """A skill could not be used. ``code`` is stable."""

    code = "SKILL_ERROR"


class UnknownSkill(SkillError):
    """The catalog has no such skill. ``closest`` holds up to three manifestIds like it."""

    code = "SKILL_UNKNOWN"

    def __init__(self, ref: str, closest: Sequence[str] = ()) -> None:
        self.ref = ref
        self.closest = list(closest)
        shown = ref if len(ref) <= _SHOWN else f"{ref[: _SHOWN - 1]}…"
        near = f"; did you mean {' or '.join(self.closest)}?" if self.closest else ""
        if ref.rstrip().endswith("@"):
            near = "; after @ stands a version or a range: leave @ out for the newest version"
        super().__init__(f"there is no skill {shown!r}{near}")


class InvalidManifest(SkillError):
    """A manifest does not fit the manifest schema. ``problems`` says where."""

    code = "SKILL_MANIFEST_INVALID"

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = list(problems)
        super().__init__("\n".join([f"{source} is no valid manifest", *map(str, problems)]))


class CatalogUnreadable(SkillError):
    """The catalog or one of its manifests is missing, broken or outside the generated folder."""

    code = "SKILL_CATALOG_UNREADABLE"

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source}: {reason}; generate the skills again")
