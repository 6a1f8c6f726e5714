"""What a tool is: said once, in the signature and docstring of an async function.

::

    @tool("worker", "planner")
    async def greet(
        platform: Platform,
        name: Annotated[str, "Who is greeted."],
        options_json: Annotated[dict[str, Any] | None, "How."] = None,
    ) -> Greeting:
        '''Greet somebody.'''

The first parameter is the platform and not part of the tool. ``Annotated`` carries the help. A
parameter whose name ends with ``_json`` is JSON *text* on the wire; the function gets the value,
checked against the annotation (annotate ``str`` to get the text itself). The result is a TypedDict
that extends ``Envelope``.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from control_plane import UnknownSession
from dcf.mcp.agent_naming import with_agent
from dcf.mcp.arguments import Alias, Parameter, Parameters
from dcf.mcp.envelope import BadArguments, Legacy
from dcf.mcp.platform import Platform
from dcf.mcp.roles import Role
from dcf.mcp.schema import input_schema, output_schema
from dcf.mcp.session_access import with_nearest

Answering = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Tool:
    """One tool. ``limit_s`` is how long a call may take, in seconds; None: the server's limit.
    ``strict``: it refuses arguments that it does not know."""

    function: Answering
    roles: frozenset[Role]
    legacy: Legacy | None = None
    limit_s: float | None = None
    strict: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def description(self) -> str:
        return " ".join((inspect.getdoc(self.function) or "").split())

    @cached_property
    def parameters(self) -> Parameters:
        hints = get_type_hints(self.function, include_extras=True)
        names = list(inspect.signature(self.function).parameters.values())[1:]
        read = [_parameter(one, hints[one.name]) for one in names]
        return Parameters(read, strict=self.strict)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return input_schema(self.parameters)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        result = get_type_hints(self.function, include_extras=True)["return"]
        return output_schema(result, self.legacy)

    async def call(
        self, platform: Platform, arguments: Mapping[str, Any], warnings: list[str]
    ) -> dict[str, Any]:
        """What the function returns. Raises BadArguments and whatever the function raises; what of
        the arguments was ignored is added to ``warnings``."""
        arguments = await with_agent(platform, self.parameters, arguments)
        try:
            values = self.parameters.read(arguments, warnings)
            fields: dict[str, Any] = await self.function(platform, **values)
        except UnknownSession as unknown:
            raise await with_nearest(platform, unknown) from unknown
        except BadArguments as bad:
            raise BadArguments(self.parameters.as_given(bad.problems, arguments)) from bad
        return fields


def tool(
    *roles: Role,
    legacy: Legacy | None = None,
    limit_s: float | None = None,
    strict: bool = False,
) -> Callable[[Answering], Tool]:
    """Make a tool of a function, shown to ``roles`` and in the full catalogue.

    ``strict`` is for what cannot be taken back (decisions, deletions, ends, hand-overs, calls), and
    for what writes to agents: a text under another name must not be lost.
    """

    def made(function: Answering) -> Tool:
        return Tool(function, frozenset(roles), legacy, limit_s, strict)

    return made


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    help_ = ""
    kind = hint
    aliases: tuple[str, ...] = ()
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        help_ = next((mark for mark in marks if isinstance(mark, str)), "")
        aliases = tuple(mark.name for mark in marks if isinstance(mark, Alias))
        rest = [mark for mark in marks if not isinstance(mark, str | Alias)]
        for mark in rest:
            kind = Annotated[kind, mark]
    default = parameter.default
    if default is inspect.Parameter.empty:
        return Parameter(parameter.name, kind, help_, aliases=aliases)
    return Parameter(parameter.name, kind, help_, default, required=False, aliases=aliases)
