"""Two manifests of one skill: what changed, in words, and the version that it asks for."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dcf.skills.comparison.bump import Step, is_enough, next_version, step_between
from dcf.skills.comparison.change import BUMPS, Bump, Change, highest
from dcf.skills.comparison.schema_changes import schema_changes
from dcf.skills.manifest import DataSource, Manifest, SkillTool
from dcf.skills.version import parse_ref

_EGRESS = ("none", "intranet", "internet")
_RISK = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Comparison:
    """``changes`` from ``before`` to ``after``, those that ask for most first."""

    before: Manifest
    after: Manifest
    changes: tuple[Change, ...]

    @property
    def asked(self) -> Bump:
        """The bump that the changes ask for."""
        return highest(change.bump for change in self.changes)

    @property
    def step(self) -> Step:
        """The bump that was made."""
        return step_between(self.before.version, self.after.version)

    @property
    def is_enough(self) -> bool:
        """Whether the version went up as far as the changes ask for."""
        return is_enough(self.before.version, self.after.version, self.asked)

    @property
    def next_version(self) -> str:
        """The lowest version that would be enough."""
        return next_version(self.before.version, self.asked)

    def to_json(self) -> dict[str, Any]:
        """``{skill, before, after, asked, step, enough, next_version, changes}``."""
        return {
            "skill": self.after.name,
            "before": self.before.manifest_id,
            "after": self.after.manifest_id,
            "asked": self.asked,
            "step": self.step,
            "enough": self.is_enough,
            "next_version": self.next_version,
            "changes": [change.to_json() for change in self.changes],
        }


def compare_skills(before: Manifest, after: Manifest) -> Comparison:
    """What changed between two versions of a skill."""
    changes = [
        *_words(before, after),
        *_permissions(before, after),
        *_tools(before, after),
        *_dependencies(before, after),
        *_data(before, after),
        *_profile(before, after),
    ]
    changes.sort(key=lambda change: -BUMPS.index(change.bump))
    return Comparison(before, after, tuple(changes))


def _words(before: Manifest, after: Manifest) -> Iterator[Change]:
    if before.name != after.name:
        text = f"{before.name!r} is {after.name!r} now"
        yield Change("name", "name", text, "major", "nobody finds it under its old name")
    if before.directives.split() == after.directives.split():
        if before.directives != after.directives:
            yield Change("directives", "directives", "blanks changed", "patch", "no word changed")
    else:
        text = _lines(before.directives, after.directives)
        reason = "agents may do other things; that results stay the same is the author's to know"
        yield Change("directives", "directives", text, "minor", reason)
    for name, old, new in (
        ("description", before.description, after.description),
        ("tags", sorted(before.tags), sorted(after.tags)),
    ):
        if old != new:
            yield Change(name, name, f"the {name} changed", "patch", "it is found by other words")


def _lines(before: str, after: str) -> str:
    marks = [line[0] for line in difflib.ndiff(before.splitlines(), after.splitlines())]
    return f"{marks.count('+')} lines come, {marks.count('-')} lines gone"


def _permissions(before: Manifest, after: Manifest) -> Iterator[Change]:
    old, new = before.permissions, after.permissions
    for name, levels, was, now in (
        ("egress", _EGRESS, old.egress, new.egress),
        ("riskLevel", _RISK, old.risk_level, new.risk_level),
    ):
        place, text = f"permissions.{name}", f"{now} now, was {was}"
        if levels.index(now) > levels.index(was):
            reason = "who allowed the skill did not allow this"
            yield Change(f"{name}_widened", place, text, "major", reason)
        elif now != was:
            yield Change(f"{name}_narrowed", place, text, "minor", "it may do less")
    for secret in sorted(set(new.secrets) - set(old.secrets)):
        reason = "who runs the skill has to provide it"
        yield Change("secret_added", "permissions.secrets", f"needs {secret}", "major", reason)
    for secret in sorted(set(old.secrets) - set(new.secrets)):
        text = f"does not need {secret} any more"
        yield Change("secret_removed", "permissions.secrets", text, "minor", "it may do less")
    for path in sorted(set(new.files) - set(old.files)):
        reason = "who allowed the skill did not allow this"
        yield Change("file_added", "permissions.files", f"is told of {path}", "major", reason)
    for path in sorted(set(old.files) - set(new.files)):
        text = f"is not told of {path} any more"
        yield Change("file_removed", "permissions.files", text, "minor", "it may do less")
    for program in sorted(set(new.commands) - set(old.commands)):
        reason = "who allowed the skill did not allow this"
        yield Change("command_added", "permissions.commands", f"runs {program}", "major", reason)
    for program in sorted(set(old.commands) - set(new.commands)):
        text = f"does not run {program} any more"
        yield Change("command_removed", "permissions.commands", text, "minor", "it may do less")


def _tools(before: Manifest, after: Manifest) -> Iterator[Change]:
    old = {tool.name: tool for tool in before.tools}
    new = {tool.name: tool for tool in after.tools}
    for name, tool in old.items():
        if name not in new:
            reason = "who relies on it cannot call it any more"
            yield Change("tool_removed", f"tools.{name}", f"{_ref(tool)} is gone", "major", reason)
    for name, tool in new.items():
        if name in old:
            yield from _tool(old[name], tool)
        elif tool.required:
            reason = "who runs the skill must have its server"
            text = f"{_ref(tool)} is new and required"
            yield Change("tool_required", f"tools.{name}", text, "major", reason)
        else:
            reason = "the skill can do more, and what it did"
            text = f"{_ref(tool)} is new and optional"
            yield Change("tool_added", f"tools.{name}", text, "minor", reason)


def _tool(old: SkillTool, new: SkillTool) -> Iterator[Change]:
    place = f"tools.{new.name}"
    if _ref(old) != _ref(new):
        reason = "the same name calls something else"
        yield Change("tool_moved", place, f"{_ref(new)} now, was {_ref(old)}", "major", reason)
    if new.required and not old.required:
        reason = "who runs the skill must have its server"
        yield Change("tool_required", place, "is required now", "major", reason)
    if old.required and not new.required:
        yield Change("tool_optional", place, "is optional now", "minor", "the skill needs less")
    if old.idempotent != new.idempotent:
        text = "may be repeated now" if new.idempotent else "may not be repeated any more"
        reason = "a lost call is handled in another way"
        yield Change("tool_idempotent", place, text, "minor", reason)
    if old.description != new.description:
        reason = "only words changed"
        yield Change("tool_described", place, "its description changed", "patch", reason)
    yield from schema_changes(old.input_schema, new.input_schema, place, "arguments")


def _ref(tool: SkillTool) -> str:
    return f"{tool.server_id}:{tool.tool_name}"


def _dependencies(before: Manifest, after: Manifest) -> Iterator[Change]:
    old = {parse_ref(ref).name.removeprefix("skill."): ref for ref in before.dependencies}
    new = {parse_ref(ref).name.removeprefix("skill."): ref for ref in after.dependencies}
    for name, ref in old.items():
        if name not in new:
            reason = "its tools do not come with this skill any more"
            text = f"{ref} is not needed any more"
            yield Change("dependency_removed", "dependencies", text, "major", reason)
        elif ref != new[name]:
            text = f"{new[name]} now, was {ref}"
            reason = "another version may come with it"
            yield Change("dependency_changed", "dependencies", text, "minor", reason)
    for name, ref in new.items():
        if name not in old:
            reason = "more comes with it, with the permissions of its own"
            yield Change("dependency_added", "dependencies", f"needs {ref}", "minor", reason)


def _data(before: Manifest, after: Manifest) -> Iterator[Change]:
    old = {source.id: source for source in before.data_sources}
    new = {source.id: source for source in after.data_sources}
    for name in old:
        if name not in new:
            reason = "agents do not get this text any more"
            yield Change("data_removed", f"dataSources.{name}", "is gone", "minor", reason)
    for name, source in new.items():
        place = f"dataSources.{name}"
        if name not in old:
            yield Change("data_added", place, "is new", "minor", "agents get one text more")
        else:
            yield from _data_source(old[name], source, place)


def _data_source(old: DataSource, new: DataSource, place: str) -> Iterator[Change]:
    if old.destination != new.destination:
        text = f"goes to {new.destination} now, was {old.destination}"
        yield Change("data_moved", place, text, "minor", "agents come by it in another way")
    if old.text != new.text:
        working = new.destination == "working_memory"
        reason = "every agent reads it" if working else "who looks it up reads another text"
        bump: Bump = "minor" if working else "patch"
        yield Change("data_changed", place, _lines(old.text, new.text), bump, reason)
    if old.description != new.description:
        yield Change("data_described", place, "its description changed", "patch", "only words")


def _profile(before: Manifest, after: Manifest) -> Iterator[Change]:
    old, new = before.raw.get("complexityProfile"), after.raw.get("complexityProfile")
    if old != new:
        text = "another complexity"
        reason = "another model may be chosen, not other work"
        yield Change("profile", "complexityProfile", text, "patch", reason)
