"""The tools for notes, in the form the turn loop of pydantic-ai takes them."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.messages import ToolReturn
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from dcf.agents.assignment import JSON
from dcf.agents.local.calling import answer_call
from dcf.agents.notes import NOTE_TOOLS, Notes, use_notes
from dcf.agents.turn import Turn

_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(keys_schema=core_schema.str_schema()))


class NoteTools(AbstractToolset[Turn]):
    """Serves the notes of one task, but for tools whose names others have ``taken``. What does not
    fit, and what the memory refuses, goes back to the model as an error."""

    def __init__(self, notes: Notes, taken: Collection[str]) -> None:
        self._notes = notes
        self._offered = {name: one for name, one in NOTE_TOOLS.items() if name not in taken}

    @property
    def id(self) -> str | None:
        return None

    async def get_tools(self, ctx: RunContext[Turn]) -> dict[str, ToolsetTool[Turn]]:
        return {
            name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=name,
                    description=one.description,
                    parameters_json_schema=dict(one.input_schema),
                    sequential=True,
                ),
                max_retries=0,
                args_validator=_ANY_OBJECT,
            )
            for name, one in self._offered.items()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Turn], tool: ToolsetTool[Turn]
    ) -> ToolReturn[JSON]:
        ctx.deps.tell("tool_call", name)
        answered = await answer_call(
            self._offered, name, tool_args, partial(use_notes, self._notes)
        )
        ctx.deps.tell("tool_result", name, answered.error)
        return ToolReturn(answered.content)
