"""An agent file, as it is in memory: agents with their blocks, messages and tools, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dcf.memory import NewAgent, NewBlock, NewMessage
from dcf.problem import Problem

JSONObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A block. ``id`` is what the file's agents call it; ``extra`` has the members of the file that
    DCF has no use for, as they were, here and below."""

    id: str
    new: NewBlock
    extra: JSONObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileMessage:
    """A message. ``in_context``: the agent had it in view."""

    id: str
    new: NewMessage
    in_context: bool = True
    extra: JSONObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileTool:
    """A tool, as data: its code, which stands in ``extra``, is never run. ``kind`` is the file's
    ``tool_type``; ``json_schema`` has name, description and parameters."""

    id: str
    name: str
    kind: str = ""
    description: str = ""
    json_schema: JSONObject | None = None
    extra: JSONObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileAgent:
    """An agent with the ids of its blocks and tools, in its order. ``secrets`` are the names of
    variables that its tools were given; their values are never kept."""

    id: str
    new: NewAgent
    blocks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    messages: tuple[FileMessage, ...] = ()
    secrets: tuple[str, ...] = ()
    extra: JSONObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentFile:
    """What a file has. ``extra``: its other members (groups, files, sources, …). ``version`` is the
    form it was read in, ``warnings`` what its reader should know."""

    agents: tuple[FileAgent, ...] = ()
    blocks: tuple[FileBlock, ...] = ()
    tools: tuple[FileTool, ...] = ()
    extra: JSONObject = field(default_factory=dict)
    version: Literal[1, 2] = field(default=2, compare=False)
    warnings: tuple[Problem, ...] = field(default=(), compare=False)
