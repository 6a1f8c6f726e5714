"""Which skills may be found at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcf.problem import Problem
from dcf.skills.errors import SkillError
from dcf.skills.manifest import Manifest
from dcf.skills.version import is_range, newest, version_order

RISKS = ("low", "medium", "high")
EGRESS = ("none", "intranet", "internet")


class InvalidFilter(SkillError):
    """A filter cannot be used. ``problems`` has all that is wrong."""

    code = "SKILL_FILTER_INVALID"

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


@dataclass(frozen=True, slots=True)
class Filters:
    """``tags``: all of these. ``max_risk`` and ``max_egress``: at most this. ``secrets``: none but
    these (None: any). ``versions``: a range as in ``^1.2``. ``newest_only``: of each skill only the
    newest version, in the range if there is one.

    Raises ``InvalidFilter``.
    """

    tags: tuple[str, ...] = ()
    max_risk: str | None = None
    max_egress: str | None = None
    secrets: frozenset[str] | None = None
    versions: str | None = None
    newest_only: bool = True

    def __post_init__(self) -> None:
        problems = _check(self)
        if problems:
            raise InvalidFilter(problems)

    def choose(self, manifests: Iterable[Manifest]) -> list[Manifest]:
        """Those of ``manifests`` that pass."""
        chosen = self._in_versions(manifests)
        return [manifest for manifest in chosen if self._allows(manifest)]

    def _in_versions(self, manifests: Iterable[Manifest]) -> list[Manifest]:
        held = [one for one in manifests if self.versions is None or self._holds(one.version)]
        if not self.newest_only:
            return held
        best: dict[str, Manifest] = {}
        for manifest in held:
            known = best.get(manifest.name)
            best[manifest.name] = manifest if known is None else _newer(known, manifest)
        return list(best.values())

    def _holds(self, version: str) -> bool:
        return newest((version,), self.versions or "*") is not None

    def _allows(self, manifest: Manifest) -> bool:
        permissions = manifest.permissions
        return (
            {tag.lower() for tag in self.tags} <= {tag.lower() for tag in manifest.tags}
            and _at_most(permissions.risk_level, self.max_risk, RISKS)
            and _at_most(permissions.egress, self.max_egress, EGRESS)
            and (self.secrets is None or set(permissions.secrets) <= self.secrets)
        )


def _newer(one: Manifest, other: Manifest) -> Manifest:
    """The newer of two; a pre-release only where there is nothing else, as with npm."""
    return max(one, other, key=lambda each: ("-" not in each.version, version_order(each.version)))


def _at_most(value: str, limit: str | None, scale: tuple[str, ...]) -> bool:
    return limit is None or scale.index(value) <= scale.index(limit)


def _check(filters: Filters) -> list[Problem]:
    problems = []
    for name, value, scale in (
        ("max_risk", filters.max_risk, RISKS),
        ("max_egress", filters.max_egress, EGRESS),
    ):
        if value is not None and value not in scale:
            message = f"{value!r} is no {name.removeprefix('max_')} level"
            hint = f"one of {', '.join(scale)}"
            problems.append(Problem("SKILL_FILTER_LEVEL", message, path=f"/{name}", hint=hint))
    if filters.versions is not None and not is_range(filters.versions):
        message = f"{filters.versions!r} is no range of versions"
        problems.append(
            Problem("SKILL_FILTER_RANGE", message, path="/versions", hint="as in ^1.2 or >=1 <3")
        )
    return problems
