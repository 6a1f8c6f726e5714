"""From a workflow document, or plain ASL, to a procedure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dcf.digest import canonical_json, digest
from dcf.planner.decompiling.known_step import Known, known_steps
from dcf.planner.decompiling.machine_steps import steps_of
from dcf.planner.decompiling.state_data import budget_of
from dcf.sop import Sop, Value, parse

_TYPES = ("string", "number", "integer", "boolean", "array", "object")
Origin = Literal["unchanged", "edited", "foreign"]
"""Of a document that was compiled from a procedure and is as it was; of one that was changed since;
of one that nobody compiled."""


@dataclass(frozen=True, slots=True)
class Decompiled:
    """``sop`` says what the document does. With ``origin`` unchanged it is the very procedure that
    the document was compiled from; else it was read from the states, and where the document knows
    the words of a step they were kept."""

    sop: Sop
    origin: Origin


def decompile(document: Mapping[str, Any]) -> Decompiled:
    """The procedure of a valid ``document``."""
    definition = document.get("asl", document)
    plan = document.get("plan")
    source = _source(plan)
    if source is not None and isinstance(plan, Mapping):
        if plan.get("asl") == digest(canonical_json(definition)):
            return Decompiled(source, "unchanged")
        words = known_steps(plan, source, definition)
        return Decompiled(_read(document, definition, words, source), "edited")
    return Decompiled(_read(document, definition, {}, None), "foreign")


def _source(plan: Any) -> Sop | None:
    text = plan.get("sop") if isinstance(plan, Mapping) else None
    if not isinstance(text, str):
        return None
    return parse(text, "plan").sop


def _read(
    document: Mapping[str, Any],
    definition: Mapping[str, Any],
    words: Known,
    source: Sop | None,
) -> Sop:
    limit = definition.get("TimeoutSeconds")
    name = str(document.get("workflow_name") or "Procedure")
    title = name.replace("-", " ").replace("_", " ")
    return Sop(
        title=source.title if source else title[:1].upper() + title[1:],
        objective=str(document.get("description") or definition.get("Comment") or title),
        steps=steps_of(definition, words),
        inputs=inputs_of(document.get("workflow_input_schema")),
        outputs=source.outputs if source else (),
        guardrails=source.guardrails if source else (),
        roles=source.roles if source else (),
        notes=source.notes if source else (),
        deadline=int(limit) if isinstance(limit, int | float) and limit >= 1 else None,
        budget=budget_of(document),
    )


def inputs_of(schema: Any) -> tuple[Value, ...]:
    """The inputs that a JSON Schema of an object describes, as far as a procedure can."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return ()
    required = schema.get("required", ())
    return tuple(_value(name, found, name in required) for name, found in properties.items())


def _value(name: str, schema: Any, required: bool) -> Value:
    found: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    kind = found.get("type")
    items = found.get("items")
    item_type = items.get("type") if isinstance(items, Mapping) else None
    examples = found.get("examples")
    return Value(
        name=name,
        type=kind if kind in _TYPES else "object",
        description=str(found.get("description", "")),
        required=required and "default" not in found,
        items=item_type if kind == "array" and item_type in _TYPES else None,
        default=found.get("default"),
        example=examples[0] if isinstance(examples, list) and examples else None,
        enum=tuple(found.get("enum", ())),
        members=inputs_of({"array": items, "object": found}.get(str(kind))),
    )
