"""What clients list: shorter than the reference, and the same for whoever calls."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest

from dcf.mcp import (
    NoEffect,
    Obvious,
    Rare,
    Tool,
    cost_of,
    cost_of_role,
    load_catalogue,
    protocol,
    tool,
)
from dcf.mcp.listing import INSTRUCTIONS, listing
from dcf.mcp.platform import Platform
from dcf.search import count_tokens

each = pytest.mark.parametrize("one", load_catalogue().tools().values(), ids=lambda one: one.name)


@tool("worker", strict=True)
async def paint(
    platform: Platform,
    place: Annotated[str, "Street and number."],
    colour: Annotated[str, Obvious("The colour.")],
    coats: Annotated[int, "At most 3."] = 0,
    rough: Annotated[bool, "Skip the corners."] = False,
    neat: Annotated[bool, "Mind the corners."] = True,
    drying_s: Annotated[int, Obvious("How long it dries.")] = 3_600,
    brush: Annotated[str | None, NoEffect("Painters bring theirs.")] = None,
) -> dict[str, str]:
    """Paint a wall."""
    return {}


@tool("worker")
async def look(
    platform: Platform,
    place: Annotated[str, Obvious("The place.")],
    lens: Annotated[str | None, Rare("Another lens.")] = None,
) -> dict[str, str]:
    """Look at a wall."""
    return {"lens": lens or "none"}


def test_a_listing_leaves_out_what_says_nothing() -> None:
    properties = {
        "place": {"type": "string", "description": "Street and number."},
        "colour": {"type": "string"},
        "coats": {"type": "integer", "default": 0, "description": "At most 3."},
        "rough": {"type": "boolean", "description": "Skip the corners."},
        "neat": {"type": "boolean", "default": True, "description": "Mind the corners."},
        "drying_s": {"type": "integer"},
    }
    assert listing_of_input(paint) == {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": ["place", "colour"],
    }


def test_a_parameter_without_effect_is_taken_by_a_strict_tool_too() -> None:
    warnings: list[str] = []
    given = {"place": "Elm Street 1", "colour": "red", "brush": "mine"}
    assert paint.parameters.read(given, warnings)["colour"] == "red"
    assert warnings == []


def test_a_rare_parameter_is_taken_and_not_told_of() -> None:
    assert listing_of_input(look)["properties"] == {"place": {"type": "string"}}
    assert "lens" in look.input_schema["properties"], "the reference has it"
    assert look.parameters.read({"place": "here", "lens": "wide"}, [])["lens"] == "wide"


@each
def test_a_strict_tool_tells_of_all_that_it_takes(one: Tool) -> None:
    """A client that checks what it sends by a closed schema could not send the rest."""
    assert not (one.strict and any(isinstance(it.help, Rare) for it in one.parameters.all))


@each
def test_a_listing_checks_arguments_as_the_tool_does(one: Tool) -> None:
    """The schemas differ in help, in defaults that say nothing, in bounds of what is obvious, in
    what is rare, and in what has no effect."""
    shown = listing_of_input(one)
    whole = json.loads(json.dumps(one.input_schema))
    for parameter in one.parameters.all:
        if isinstance(parameter.help, NoEffect | Rare):
            assert not parameter.required, parameter.name
            del whole["properties"][parameter.name]
        elif isinstance(parameter.help, Obvious):
            part = whole["properties"][parameter.name]
            whole["properties"][parameter.name] = {
                key: part[key] for key in part if "imum" not in key
            }
    assert _checks(shown) == _checks(whole)
    assert shown["properties"].keys() == whole["properties"].keys()


@each
def test_the_answers_of_a_listing_are_those_of_the_tool(one: Tool) -> None:
    assert _checks(listing(one)["outputSchema"]) == _checks(one.output_schema)


def test_clients_get_the_listing_and_its_cost_is_counted() -> None:
    wire = [one.model_dump(by_alias=True, exclude_none=True) for one in protocol.listed("worker")]
    tools = load_catalogue().tools("worker").values()
    assert wire == [listing(one) for one in tools]
    apart = sum(cost_of(one).shown for one in tools) + count_tokens(INSTRUCTIONS)
    assert cost_of_role(load_catalogue(), "worker").shown == apart


def listing_of_input(one: Tool) -> dict[str, Any]:
    found: dict[str, Any] = listing(one)["inputSchema"]
    return found


def _checks(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` without what checks nothing."""
    return {
        **schema,
        "properties": {
            name: {key: part[key] for key in part if key not in ("default", "description")}
            for name, part in schema["properties"].items()
        },
    }
