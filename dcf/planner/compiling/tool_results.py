"""What tools answer, by their result schemas: which member of a result a step may write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.regular_file import read_regular
from dcf.skills import Manifest, SkillTool

Schema = Mapping[str, Any]
_STUB = Path("stub") / "stub_config.json"


@dataclass(frozen=True, slots=True)
class Found:
    """A member of what a Task answers: ``path`` leads to it from the result, ``certain`` says that
    the tool always gives it, ``type`` is its JSON type if there is one."""

    path: tuple[str, ...]
    certain: bool
    type: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResults:
    """Result schemas by ``server:tool``. A tool that has none may answer anything."""

    schemas: Mapping[str, Schema] = field(default_factory=dict)

    @classmethod
    def load(cls, generated: Path) -> ToolResults:
        """Those of the ``generated`` skills; none where no stub configuration was generated."""
        try:
            document = json.loads(read_regular(generated / _STUB))
        except FileNotFoundError:
            return cls()
        return cls(
            {
                f"{server_id}:{name}": tool["resultSchema"]
                for server_id, server in document["servers"].items()
                for name, tool in server["tools"].items()
                if tool.get("resultSchema")
            }
        )

    def members(self, tool: SkillTool) -> Mapping[str, Found]:
        """The members of what ``tool`` answers, by name."""
        schema = self.schemas.get(f"{tool.server_id}:{tool.tool_name}", {})
        always = schema.get("required", ())
        return {
            name: Found((name,), name in always, type_of(member))
            for name, member in schema.get("properties", {}).items()
        }

    def is_known(self, tools: Sequence[SkillTool]) -> bool:
        """Whether all of ``tools`` say what they answer, and there are some."""
        return bool(tools) and all(
            f"{tool.server_id}:{tool.tool_name}" in self.schemas for tool in tools
        )


def required_tools(skills: Sequence[Manifest]) -> list[SkillTool]:
    """What a Task with ``skills`` calls in any case, in declared order."""
    return [tool for skill in skills for tool in skill.tools if tool.required]


def sole_tool(skills: Sequence[Manifest]) -> SkillTool | None:
    """The tool of a Task that has but one."""
    tools = [tool for skill in skills for tool in skill.tools]
    return tools[0] if len(tools) == 1 else None


def find_member(results: ToolResults, skills: Sequence[Manifest], name: str) -> Found | None:
    """Where ``name`` stands in the result of a Task with ``skills``: of several tools that give it
    the last one called, since a later tool knows more. None where no tool says that it gives it."""
    sole = sole_tool(skills)
    if sole is not None:
        return results.members(sole).get(name)
    for tool in reversed(required_tools(skills)):
        found = results.members(tool).get(name)
        if found is not None:
            return Found((tool.name, *found.path), found.certain, found.type)
    return None


def type_of(schema: Any) -> str | None:
    """The JSON type that ``schema`` names; None where it names none or several."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind if isinstance(kind, str) else None


def fits(have: str | None, want: str | None) -> bool:
    """Whether a value of the one type can be given for the other, as far as is known."""
    return have is None or want is None or have == want or (have, want) == ("integer", "number")
