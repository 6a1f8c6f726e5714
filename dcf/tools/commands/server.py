"""The MCP server with the one tool ``run_command``.

Whether a command may run, the gate of the worker has decided: it sends with the call which programs
the skill is permitted, and without that nothing runs. What is checked here is checked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from dcf.tools.commands.program import NoProgram, find_program
from dcf.tools.commands.running import Finished, run_program
from dcf.tools.commands.tool import (
    LONGEST_ARGUMENT,
    LONGEST_S,
    MOST_ARGUMENTS,
    PARAMS,
    RESULT,
    TOOL,
    USUAL_S,
)
from dcf.tools.meta import PROGRAMS

_SAID = 2_000
_UNSEEN = frozenset(map(chr, (*range(32), 127)))


class Refused(Exception):
    """A call that starts nothing. ``code`` is the name of the error."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(slots=True)
class CommandRunner:
    """Runs programs in ``folder``, one at a time, with ``environment`` and nothing else of this
    process."""

    folder: Path
    environment: Mapping[str, str]
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, arguments: Mapping[str, Any], permitted: Sequence[str]) -> CallToolResult:
        """The result of one call, an error where it is refused or the program failed."""
        try:
            argv, timeout_s = _checked(arguments)
            if argv[0] not in permitted:
                raise Refused("CommandRefused", f"no permission names the program {argv[0]!r}")
            try:
                executable = find_program(argv[0], self.environment.get("PATH", ""), self.folder)
                async with self._turn:
                    done = await run_program(
                        executable,
                        argv,
                        folder=self.folder,
                        environment=self.environment,
                        timeout_s=timeout_s,
                    )
            except (NoProgram, OSError) as missing:
                raise Refused("CommandNotFound", str(missing)) from missing
        except Refused as refused:
            return _result({"code": refused.code, "message": str(refused)}, is_error=True)
        return _told(argv[0], done, timeout_s)


def create_server(runner: CommandRunner) -> Server[Any]:
    """The MCP server over ``runner``."""

    async def list_tools(
        _context: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_TOOL])

    async def call_tool(
        _context: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult:
        meta: dict[str, Any] = dict(params.meta or {})
        permitted = meta.get(PROGRAMS)
        if params.name != TOOL:
            told = {"code": "UnknownTool", "message": f"there is {TOOL} here, no {params.name!r}"}
            return _result(told, is_error=True)
        return await runner.run(
            params.arguments or {}, permitted if isinstance(permitted, list) else []
        )

    return Server(
        "dcf-commands",
        version="1",
        instructions="Runs programs by argument lists, without a shell.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda _name: None,
    )


_TOOL = Tool(
    name=TOOL,
    description="Run a program with exactly these arguments, without a shell.",
    input_schema=PARAMS,
    output_schema=RESULT,
    annotations=ToolAnnotations(destructive_hint=True, idempotent_hint=False),
)


def _checked(arguments: Mapping[str, Any]) -> tuple[list[str], float]:
    argv, timeout_s = arguments.get("argv"), arguments.get("timeout_s", USUAL_S)
    is_list = isinstance(argv, list) and 0 < len(argv) <= MOST_ARGUMENTS
    if not is_list or not all(isinstance(one, str) for one in argv or ()):
        message = f"argv is a list of 1 to {MOST_ARGUMENTS} texts, the program first"
        raise Refused("CommandRefused", message)
    assert isinstance(argv, list)
    for one in argv:
        if len(one) > LONGEST_ARGUMENT or _UNSEEN & set(one):
            message = f"{one[:40]!r} is too long, or has control characters such as a line break"
            raise Refused("CommandRefused", message)
    is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
    if not is_number or not 0 < timeout_s <= LONGEST_S:
        message = f"timeout_s is a number of seconds up to {LONGEST_S:g}"
        raise Refused("CommandRefused", message)
    return argv, float(timeout_s)


def _told(program: str, done: Finished, timeout_s: float) -> CallToolResult:
    data: dict[str, Any] = {
        "exit_code": done.exit_code,
        "stdout": done.stdout,
        "stderr": done.stderr,
        "truncated": done.truncated,
    }
    if done.exit_code == 0:
        return _result(data)
    end = done.stderr.rstrip()[-_SAID:]
    if done.exit_code is None:
        code, how = "CommandTimeout", f"was ended after {timeout_s:g} s"
    else:
        code, how = "CommandFailed", f"ended with exit code {done.exit_code}"
    message = f"{program} {how}" + (f": {end}" if end else "")
    return _result({"code": code, "message": message, **data}, is_error=True)


def _result(data: dict[str, Any], *, is_error: bool = False) -> CallToolResult:
    text = str(data["message"] if is_error else data["stdout"])
    return CallToolResult(
        content=[TextContent(text=text)], structured_content=data, is_error=is_error
    )
