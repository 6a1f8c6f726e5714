"""Secrets in agent files: their names come along, their values never."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.agents.files.text import escape
from dcf.secret_name import names_a_secret

VARIABLES = ("tool_exec_environment_variables", "secrets")
"""Members of an agent with what its tools are given."""
_CONFIGS = ("llm_config", "embedding_config")
_GIVEN = frozenset({"headers", "custom_headers", "env", "environment"})
"""Members whose texts may all be secrets."""
_USER = re.compile(r"(?<=://)[^/\s@]+@")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of an agent's tools. ``pointer`` is where in the agent its value stands, None if
    the file has no value."""

    name: str
    pointer: str | None = None


def variables_of(agent: Mapping[str, Any]) -> list[Variable]:
    """What the agent's tools are given."""
    found = []
    for member in VARIABLES:
        given = agent.get(member) or {}
        if isinstance(given, Mapping):
            found += [
                Variable(name, f"/{member}/{escape(name)}" if value else None)
                for name, value in given.items()
            ]
            continue
        for index, one in enumerate(given):
            name = one.get("key") or one.get("name")
            if isinstance(name, str):
                pointer = f"/{member}/{index}/value" if one.get("value") else None
                found.append(Variable(name, pointer))
    return found


def scrub_agent(agent: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The agent without values of secrets in what configures its models, and the JSON pointers of
    those that it had."""
    clean, found = dict(agent), []
    for member in _CONFIGS:
        if member in clean:
            clean[member], inside = scrub(clean[member])
            found += [f"/{member}{pointer}" for pointer in inside]
    return clean, found


def scrub(value: Any, *, given: bool = False) -> tuple[Any, list[str]]:
    """``value`` without texts that are secrets by their name or place (they become empty), and the
    JSON pointers of those. ``given``: every text in it may be one."""
    if isinstance(value, dict):
        clean, found = {}, []
        for name, item in value.items():
            inside_given = given or name in _GIVEN
            if isinstance(item, str) and item and (inside_given or names_a_secret(name)):
                clean[name] = ""
                found.append(f"/{escape(name)}")
                continue
            clean[name], inside = scrub(item, given=inside_given)
            found += [f"/{escape(name)}{pointer}" for pointer in inside]
        return clean, found
    if isinstance(value, list):
        pairs = [scrub(item, given=given) for item in value]
        found = [f"/{index}{one}" for index, (_, inside) in enumerate(pairs) for one in inside]
        return [clean for clean, _ in pairs], found
    if isinstance(value, str) and _USER.search(value):
        return _USER.sub("", value), [""]
    return value, []
