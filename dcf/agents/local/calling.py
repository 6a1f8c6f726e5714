"""One call of a tool by an agent's model, from what the model wrote to what it is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcf.agents.assignment import JSON
from dcf.agents.envelope import envelope_of
from dcf.memory import MemoryProblem
from dcf.tools import ToolsError

if TYPE_CHECKING:
    from dcf.agents.runtime import ToolUse
    from dcf.memory import ToolSpec

UNKNOWN_TOOL = "DCF.UnknownTool"
MALFORMED_CALL = "DCF.MalformedCall"
_MOST_FAULTS = 5


@dataclass(frozen=True, slots=True)
class Answered:
    """What a call came to. ``error`` is its error name; ``malformed``: the model has to call
    otherwise."""

    content: JSON
    error: str | None = None
    malformed: bool = False


def read_arguments(written: str | Mapping[str, JSON] | None) -> dict[str, JSON] | None:
    """The arguments that a model wrote, None if they are no JSON object."""
    if written is None or written == "":
        return {}
    if isinstance(written, Mapping):
        return dict(written)
    try:
        read = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


async def answer_call(
    tools: Mapping[str, ToolSpec],
    name: str,
    arguments: dict[str, JSON] | None,
    call: ToolUse | None,
) -> Answered:
    """Have one of ``tools`` called by ``call``, which may say itself what it came to.

    What the model can mend comes back as an error for it; any other exception passes.
    """
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(sorted(tools)) or "none"
        return _failed(UNKNOWN_TOOL, f"there is no tool {name!r}; there are: {known}", True)
    if arguments is None:
        return _failed(MALFORMED_CALL, f"the arguments of {name} are not a JSON object", True)
    misfit = _misfit(tool, arguments)
    if misfit is not None:
        return _failed(MALFORMED_CALL, f"the arguments of {name} do not fit: {misfit}", True)
    try:
        assert call is not None, "tools of others are offered only with `use`"
        said = await call(name, arguments)
        return said if isinstance(said, Answered) else Answered(said)
    except MemoryProblem as problem:
        hint = f" ({problem.hint})" if problem.hint else ""
        return _failed(problem.code, f"{problem}{hint}")
    except ToolsError as error:
        return _failed(error.code, str(error))


def _misfit(tool: ToolSpec, arguments: dict[str, JSON]) -> str | None:
    from dcf.schema import SchemaUnusable, schema_of

    try:
        faults = schema_of(tool.input_schema).faults(arguments)
    except SchemaUnusable:
        # Whoever serves the tool checks its arguments anyway.
        return None
    told = [f"{fault.json_path}: {fault.message[:300]}" for fault in faults[:_MOST_FAULTS]]
    return "; ".join(told) or None


def _failed(code: str, message: str, malformed: bool = False) -> Answered:
    return Answered(envelope_of(code, message), code, malformed)
