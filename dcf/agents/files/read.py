"""Reading an agent file. Pure: bytes in, what they say out; nothing of it is run or followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from dcf.agents.files.agent_file import AgentFile, FileAgent, FileBlock, FileMessage, FileTool
from dcf.agents.files.agent_form import AGENT, model_of, named_model
from dcf.agents.files.block_form import BLOCK
from dcf.agents.files.errors import InvalidAgentFile
from dcf.agents.files.message_form import message_form, tools_called
from dcf.agents.files.normal_form import Normal, normal_form, version_of
from dcf.agents.files.references import reference_problems
from dcf.agents.files.secrets import VARIABLES, scrub, scrub_agent, variables_of
from dcf.agents.files.shape import shape_problems
from dcf.agents.files.text import MOST_PROBLEMS, json_in
from dcf.agents.files.tool_form import TOOL
from dcf.agents.files.usable import tool_warnings
from dcf.memory import NewAgent, NewBlock, NewMessage
from dcf.problem import Problem


def read_agent_file(data: bytes | str) -> AgentFile:
    """What an agent file (``.af``) of version 1 or 2 says.

    Raises InvalidAgentFile with all that is wrong; what is only remarkable is in ``warnings``.
    """
    value = json_in(data)
    version = version_of(value)
    if version is None:
        message = "this is no agent file: neither an agent (version 1) nor agents (version 2)"
        hint = "an agent file has agents, or agent_type and core_memory"
        raise InvalidAgentFile([Problem("AGENT_FILE_UNKNOWN", message, "", hint)])
    _refuse(shape_problems(value, version))
    normal = normal_form(value, version)
    _refuse(list(islice(_placed(normal, reference_problems(normal.raw)), MOST_PROBLEMS)))
    return _Reader(normal).file()


def tool_of(raw: Mapping[str, Any]) -> FileTool:
    """A tool as it stands in a file, whose shape is right."""
    fields, extra = TOOL.read(_without(raw, "id"))
    return FileTool(raw["id"], **fields, extra=extra)


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise InvalidAgentFile(problems)


def _placed(normal: Normal, problems: Iterator[Problem]) -> Iterator[Problem]:
    """``problems`` of the bundle, at their places in the file."""
    for problem in problems:
        yield replace(problem, path=normal.place(problem.path))


class _Reader:
    """Reads a bundle whose shape and references are right."""

    def __init__(self, normal: Normal) -> None:
        self._normal = normal
        self._raw = normal.raw
        self._warnings: list[Problem] = []

    def file(self) -> AgentFile:
        blocks = tuple(self._block(index, raw) for index, raw in enumerate(self._raw["blocks"]))
        tools = tuple(self._tool(index, raw) for index, raw in enumerate(self._raw["tools"]))
        agents = tuple(self._agent(index, raw) for index, raw in enumerate(self._raw["agents"]))
        return AgentFile(
            agents=agents,
            blocks=blocks,
            tools=tools,
            extra=self._rest(),
            version=self._normal.version,
            warnings=tuple(self._warnings),
        )

    def _rest(self) -> dict[str, Any]:
        rest = {
            name: value
            for name, value in self._raw.items()
            if name not in ("agents", "blocks", "tools")
        }
        rest["mcp_servers"], found = scrub(rest["mcp_servers"])
        self._removed("/mcp_servers", found)
        return rest

    def _block(self, index: int, raw: Mapping[str, Any]) -> FileBlock:
        fields, extra = BLOCK.read(_without(raw, "id"))
        new = NewBlock(**fields, provenance="imported")
        size, limit = len(new.value.encode()), new.hard_limit
        if limit is not None and size > limit:
            new = replace(new, on_limit="warn")
            message = (
                f"the block {new.label!r} has {size:,} bytes, more than its limit of {limit:,}"
            )
            hint = "it comes in whole; its later writes warn and are not refused"
            self._warn("AGENT_FILE_OVER_LIMIT", message, f"/blocks/{index}/value", hint)
        return FileBlock(raw["id"], new, extra)

    def _tool(self, index: int, raw: Mapping[str, Any]) -> FileTool:
        place = self._normal.place(f"/tools/{index}")
        self._warnings += tool_warnings(place, raw)
        return tool_of(raw)

    def _agent(self, index: int, raw: Mapping[str, Any]) -> FileAgent:
        place = f"/agents/{index}"
        clean, found = scrub_agent(raw)
        self._removed(place, found)
        variables = variables_of(clean)
        self._removed(place, [one.pointer for one in variables if one.pointer])
        named = named_model(clean)
        fields, extra = AGENT.read(_without(clean, *_STRUCTURE, *(VARIABLES if variables else ())))
        if named and fields["model"] is None and model_of(clean) is None:
            message = f"the agent's model {named!r} is of a provider that DCF does not know"
            hint = "the configured model is used; set the agent's model to choose another"
            self._warn("AGENT_FILE_MODEL", message, place, hint)
        messages = self._messages(clean)
        if (order := clean["in_context_message_ids"]) is not None and order != [
            message.id for message in messages if message.in_context
        ]:
            extra["in_context_message_ids"] = order
        return FileAgent(
            id=raw["id"],
            new=NewAgent(**{**fields, "tags": tuple(fields["tags"])}),
            blocks=tuple(clean["block_ids"]),
            tools=tuple(clean.get("tool_ids") or ()),
            messages=messages,
            secrets=tuple(dict.fromkeys(one.name for one in variables)),
            extra=extra,
        )

    def _messages(self, agent: Mapping[str, Any]) -> tuple[FileMessage, ...]:
        named = agent["in_context_message_ids"]
        in_context = set(named or ())
        form = message_form(tools_called(agent["messages"]))
        read = []
        for raw in agent["messages"]:
            fields, extra = form.read(_without(raw, "id"))
            replaces = fields["replaces"]
            fields["parts"] = tuple(fields["parts"])
            new = NewMessage(**{**fields, "replaces": tuple(replaces) if replaces else None})
            seen = named is None or raw["id"] in in_context
            read.append(FileMessage(raw["id"], new, seen, extra))
        return tuple(read)

    def _removed(self, place: str, pointers: list[str]) -> None:
        for pointer in pointers:
            message = "the file has the value of a secret here; it is not taken over"
            hint = "whoever has the file knows the secret: consider it known, and make a new one"
            self._warn("AGENT_FILE_SECRET", message, f"{place}{pointer}", hint)

    def _warn(self, code: str, message: str, pointer: str, hint: str) -> None:
        place = self._normal.place(pointer)
        self._warnings.append(Problem(code, message, place, hint, "warning"))


_STRUCTURE = ("id", "block_ids", "tool_ids", "messages", "in_context_message_ids")


def _without(raw: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if name not in names}
