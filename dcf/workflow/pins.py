"""What a run is pinned to beside its skills: the schemas of their tools, and what its agents are
made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcf import asl
from dcf.skills import SkillCatalog
from dcf.workflow.document import WorkflowDocument

if TYPE_CHECKING:
    from dcf.tools import SchemaPin


def further_pins(
    document: WorkflowDocument,
    catalog: SkillCatalog,
    schemas: Mapping[str, SchemaPin],
    templates: Path | None = None,
) -> dict[str, str]:
    """``tool:server:tool`` -> digest of its pinned schemas, for every tool of the skills that
    ``document`` loads, and of those they need; and ``template:{name}`` -> digest of each template
    that its agents are made from, with their standing orders. ``templates`` is a folder of the
    user's own. Raises InvalidTemplate."""
    bindings = list(_bindings(document.machine))
    refs = dict.fromkeys(ref for binding in bindings for ref in binding.get("skills", ()))
    named = {_template_of(binding) for binding in bindings}
    if not bindings:
        return {}
    from dcf.agents.templates import templates as all_templates
    from dcf.digest import tool_digest

    tools = {
        f"{tool.server_id}:{tool.tool_name}"
        for ref in refs
        for skill in catalog.with_dependencies(catalog.resolve(ref))
        for tool in skill.tools
    }
    pins = {
        f"tool:{tool}": tool_digest(schemas[tool].input_schema, schemas[tool].output_schema)
        for tool in sorted(tools & schemas.keys())
    }
    known = all_templates(templates)
    pins |= {
        f"template:{name}": known[name].digest for name in sorted({"worker", *named} & known.keys())
    }
    return pins


def _template_of(binding: Mapping[str, Any]) -> str:
    reference = binding.get("agent_template_ref") or {}
    return str(reference.get("name") or reference.get("id") or "worker")


def _bindings(machine: asl.StateMachine) -> Iterator[Mapping[str, Any]]:
    for state in machine.states.values():
        if state.binding is not None:
            yield state.binding
        for inner in (*state.branches, *([state.processor] if state.processor else [])):
            yield from _bindings(inner)
