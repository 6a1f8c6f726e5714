"""An agent's fields and their columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypedDict, cast, get_args

from dcf.memory.agent import Agent, Lifecycle, NewAgent
from dcf.memory.audit.entity import Row
from dcf.memory.checking import data_problems, json_of, refuse, text_problems
from dcf.problem import Problem

_TEXTS = ("description", "role", "system")
_NAMES = ("model", "embedder", "template", "template_digest")
_DATA = ("metadata", "extra")
_SWITCHES = ("parallel_tool_calls", "enable_sleeptime")


class AgentFields(TypedDict, total=False):
    """What can be changed of an agent."""

    name: str
    description: str
    role: str
    model: str | None
    embedder: str | None
    system: str
    context_window: int
    parallel_tool_calls: bool
    enable_sleeptime: bool
    lifecycle: Lifecycle
    template: str | None
    template_digest: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    extra: Mapping[str, Any]


def agent_of(row: Row) -> Agent:
    """The agent in a row."""
    known = {field.name: row[field.name] for field in fields(Agent)}
    return Agent(
        **{
            **known,
            **{name: bool(row[name]) for name in _SWITCHES},
            **{name: json.loads(row[name]) for name in _DATA},
            "tags": tuple(json.loads(row["tags"])),
        }
    )


def fields_of(new: NewAgent) -> AgentFields:
    """A new agent's fields."""
    return cast(AgentFields, {field.name: getattr(new, field.name) for field in fields(new)})


def columns_of(given: AgentFields) -> dict[str, Any]:
    """The columns of the fields ``given``. Raises InvalidEntry with all that is wrong."""
    refuse("the agent", _problems(given))
    columns: dict[str, Any] = dict(given)
    for name in _SWITCHES:
        if name in columns:
            columns[name] = int(columns[name])
    for name in _DATA:
        if name in columns:
            columns[name] = json_of(columns[name])
    if "tags" in columns:
        columns["tags"] = json_of(sorted(set(columns["tags"])))
    return columns


def _problems(given: AgentFields) -> Iterator[Problem]:
    values: Mapping[str, Any] = given
    for name in sorted(values.keys() - AgentFields.__annotations__.keys()):
        yield Problem("memory_agent_field", f"an agent has no field {name}", f"/{name}")
    if "name" in values:
        yield from text_problems("/name", values["name"], filled=True)
    for name in (*_TEXTS, *_NAMES):
        if values.get(name) is not None:
            yield from text_problems(f"/{name}", values[name])
    for position, tag in enumerate(values.get("tags", ())):
        yield from text_problems(f"/tags/{position}", tag, filled=True)
    for name in _DATA:
        if name in values:
            yield from data_problems(f"/{name}", values[name])
    if values.get("context_window", 1) < 1:
        yield Problem(
            "memory_agent_window", "context_window is not a number of tokens", "/context_window"
        )
    lifecycle = values.get("lifecycle", "persistent")
    if lifecycle not in get_args(Lifecycle):
        known = ", ".join(get_args(Lifecycle))
        yield Problem(
            "memory_agent_lifecycle", f"lifecycle is {lifecycle!r}, not {known}", "/lifecycle"
        )
