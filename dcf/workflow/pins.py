"""What a run is pinned to beside its skills: the schemas of their tools, and what its agents are
made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dcf import asl
from dcf.skills import SkillCatalog
from dcf.workflow.document import WorkflowDocument

if TYPE_CHECKING:
    from dcf.tools import SchemaPin


def further_pins(
    document: WorkflowDocument, catalog: SkillCatalog, schemas: Mapping[str, SchemaPin]
) -> dict[str, str]:
    """``tool:server:tool`` -> digest of its pinned schemas, for every tool of the skills that
    ``document`` loads, and of those they need; and ``template:worker`` -> digest of the template of
    its agents with their standing orders."""
    refs = dict.fromkeys(ref for ref in _refs(document.machine))
    if not refs:
        return {}
    from dcf.agents.templates import template_named
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
    pins["template:worker"] = template_named("worker").digest
    return pins


def _refs(machine: asl.StateMachine) -> Iterator[str]:
    for state in machine.states.values():
        yield from (state.binding or {}).get("skills", ())
        for inner in (*state.branches, *([state.processor] if state.processor else [])):
            yield from _refs(inner)
