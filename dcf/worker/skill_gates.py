"""The skills of a Task, as its run was submitted with them, and the gate that they make."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dcf.agents.loading import grants_of
from dcf.digest import tool_digest
from dcf.skills import Manifest, SkillCatalog
from dcf.tools import Gate, Grant, Policy, Registry, SchemaPin


class ChangedSkill(Exception):
    """A skill, or a tool of it, is not the one that the run was submitted with."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} has changed since the run was submitted; restore it, or submit again"
        )


class SkillGates:
    """Loads skills from ``catalog`` and makes gates of them. ``pins`` are by ``server:tool``."""

    def __init__(
        self,
        catalog: SkillCatalog,
        registry: Registry,
        policy: Policy,
        pins: Mapping[str, SchemaPin],
    ) -> None:
        self._catalog = catalog
        self._registry = registry
        self._policy = policy
        self._pins = pins
        self._declared = declared_by(catalog)
        self._schemas = schemas_of(catalog)

    def load(self, refs: Sequence[str], pinned: Mapping[str, str]) -> tuple[Manifest, ...]:
        """The manifests of ``refs``. ``pinned`` are the digests of the run, empty where it was
        submitted without a catalog. Raises UnknownSkill and ChangedSkill."""
        skills = tuple(self._catalog.resolve(ref) for ref in refs)
        for skill in skills:
            if pinned and pinned.get(skill.manifest_id) != skill.digest:
                raise ChangedSkill(skill.manifest_id)
            for tool in skill.tools:
                self._check_tool(f"{tool.server_id}:{tool.tool_name}", pinned)
        return skills

    def needed_by(
        self, skills: Sequence[Manifest], pinned: Mapping[str, str]
    ) -> tuple[Manifest, ...]:
        """What ``skills`` depend on and do not name, in the versions of the run, even where the
        catalog has newer by now. Raises as ``load``."""
        if not any(skill.dependencies for skill in skills):
            return ()
        catalog = self._catalog
        if pinned:
            catalog = SkillCatalog(one for one in catalog if one.manifest_id in pinned)
        found = [one.manifest_id for skill in skills for one in catalog.with_dependencies(skill)]
        named = {skill.manifest_id for skill in skills}
        return self.load([name for name in dict.fromkeys(found) if name not in named], pinned)

    def gate(self, skills: Sequence[Manifest]) -> Gate:
        """What lets the tools of ``skills`` pass, as far as the policy does."""
        return self.gate_of(grants_of(skills))

    def gate_of(self, grants: Iterable[Grant]) -> Gate:
        """What lets calls pass that ``grants`` allow, as far as the policy does."""
        return Gate(
            grants,
            servers=self._registry,
            policy=self._policy,
            declared=self._declared,
            pins=self._pins,
            schemas=self._schemas,
        )

    def _check_tool(self, tool: str, pinned: Mapping[str, str]) -> None:
        digest, pin = pinned.get(f"tool:{tool}"), self._pins.get(tool)
        if digest is None:
            return
        if pin is None or tool_digest(pin.input_schema, pin.output_schema) != digest:
            raise ChangedSkill(f"the schema of {tool}")


def declared_by(catalog: SkillCatalog) -> dict[str, list[str]]:
    """``server:tool`` to the skills of the whole catalog that declare it."""
    declared: dict[str, list[str]] = defaultdict(list)
    for skill in catalog:
        for tool in skill.tools:
            declared[f"{tool.server_id}:{tool.tool_name}"].append(skill.manifest_id)
    return dict(declared)


def schemas_of(catalog: SkillCatalog) -> dict[str, list[Mapping[str, Any]]]:
    """``server:tool`` to the schemas of its arguments that the whole catalog has, each once."""
    schemas: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for skill in catalog:
        for tool in skill.tools:
            known = schemas[f"{tool.server_id}:{tool.tool_name}"]
            if tool.input_schema not in known:
                known.append(tool.input_schema)
    return dict(schemas)
