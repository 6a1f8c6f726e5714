"""The declared tools, in the form the turn loop of pydantic-ai takes them."""

from __future__ import annotations

from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.messages import ToolReturn
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from dcf.agents.assignment import JSON
from dcf.agents.envelope import envelope_of, error_envelope
from dcf.agents.offer import Offer, OfferedTool
from dcf.agents.task_error import TaskError
from dcf.agents.turn import Turn
from dcf.tools import PermissionDenied, ToolsError

_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(keys_schema=core_schema.str_schema()))
_MALFORMED_CALLS = 2


class DeclaredTools(AbstractToolset[Turn]):
    """Serves the tools of one offer. It holds nothing of a run, so that runs may share it.

    Arguments are checked by the gate and by the tool's server, which owns the schema. A result that
    is an error goes back to the model as an error envelope, and so do arguments that do not fit, a
    few times in a row; a call that cannot be made ends the task.
    """

    def __init__(self, offer: Offer) -> None:
        self._offered = {offered.wire_name: offered for offered in offer.tools}
        self._served = {
            offered.wire_name: ToolsetTool(
                toolset=self,
                tool_def=_definition(offered, sole=offer.sole),
                max_retries=_MALFORMED_CALLS,
                args_validator=_ANY_OBJECT,
            )
            for offered in offer.tools
        }

    @property
    def id(self) -> str | None:
        return None

    async def get_tools(self, ctx: RunContext[Turn]) -> dict[str, ToolsetTool[Turn]]:
        return self._served

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Turn], tool: ToolsetTool[Turn]
    ) -> ToolReturn[JSON]:
        malformed = ctx.deps.malformed
        try:
            result = await ctx.deps.use(self._offered[name].tool, tool_args)
        except ToolsError as error:
            malformed[name] += 1
            if not _is_malformed(error) or malformed[name] > _MALFORMED_CALLS:
                raise TaskError(error.code, str(error)) from error
            return _returned(envelope_of(error.code, str(error)))
        del malformed[name]
        return _returned(error_envelope(result)) if result.is_error else ToolReturn(result.data)


def _is_malformed(error: ToolsError) -> bool:
    """Whether the model only has to call with other arguments."""
    return isinstance(error, PermissionDenied) and error.rule == "arguments.invalid"


def _returned(envelope: dict[str, JSON]) -> ToolReturn[JSON]:
    # The mark stays in the history beside the content: a tool may well *succeed* with data that
    # looks like an envelope.
    return ToolReturn(return_value=envelope, metadata={"error": envelope["error"]})


def _definition(offered: OfferedTool, *, sole: bool) -> ToolDefinition:
    return ToolDefinition(
        name=offered.wire_name,
        description=offered.tool.description,
        parameters_json_schema=dict(offered.tool.input_schema),
        # One at a time, so that a call's number, part of its idempotency key, is the same when a
        # task is repeated.
        sequential=True,
        metadata={"key": offered.key, "required": offered.required, "sole": sole},
    )
