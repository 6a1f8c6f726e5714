"""The operations on an experiment's memory as calls with JSON. Whatever happens, there is an
answer: the operation's own, or ``{ok: false, error, hint?}``."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from dcf.mcp.arguments import Parameter, Parameters
from dcf.mcp.calling import as_text
from dcf.mcp.envelope import BadArguments
from dcf.mcp.schema import input_schema
from dcf.memory import OPERATIONS, ExperimentMemory, MemoryProblem, Operation

log = logging.getLogger(__name__)

LIMIT_S = 60.0
"""So long a call may take, in seconds."""


@dataclass(frozen=True)
class Call:
    """One operation as callers see it."""

    operation: Operation

    @property
    def name(self) -> str:
        return self.operation.name

    @cached_property
    def description(self) -> str:
        return " ".join((inspect.getdoc(self.operation.call) or "").split())

    @cached_property
    def parameters(self) -> Parameters:
        hints = get_type_hints(self.operation.call, include_extras=True)
        signature = list(inspect.signature(self.operation.call).parameters.values())[1:]
        named = [one for one in signature if one.kind is not one.VAR_KEYWORD]
        return Parameters(
            [_parameter(one, hints[one.name]) for one in named], strict=self.operation.writes
        )

    @cached_property
    def takes_more(self) -> bool:
        """Whether arguments that have no parameter are taken too."""
        parameters = inspect.signature(self.operation.call).parameters.values()
        return any(one.kind is one.VAR_KEYWORD for one in parameters)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        schema = input_schema(self.parameters)
        return {**schema, "additionalProperties": True} if self.takes_more else schema

    async def __call__(
        self, experiment: ExperimentMemory, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What the operation answers. Raises BadArguments, a MemoryProblem."""
        known = {one.name for one in self.parameters.all}
        more = {name: it for name, it in arguments.items() if self.takes_more and name not in known}
        warnings: list[str] = []
        given = {name: it for name, it in arguments.items() if name not in more}
        values = self.parameters.read(given, warnings)
        fields = await self.operation.call(experiment, **values, **more)
        return {**fields, "warnings": warnings} if warnings else fields


class Answered(NamedTuple):
    """The answer to a call, and the same as JSON text; ``is_understood``: there is an operation of
    its name, which takes such arguments."""

    fields: dict[str, Any]
    text: str
    is_understood: bool = True


CALLS: Mapping[str, Call] = {name: Call(one) for name, one in OPERATIONS.items()}


async def answer(
    calls: Mapping[str, Call], experiment: ExperimentMemory, name: str, arguments: Mapping[str, Any]
) -> Answered:
    """What the operation ``name`` answers to ``arguments``."""
    call = calls.get(name)
    if call is None:
        fields = failed(f"there is no operation {name[:100]!r}", f"one of {', '.join(calls)}")
        return Answered(fields, as_text(fields), is_understood=False)
    try:
        async with asyncio.timeout(LIMIT_S):
            fields = await call(experiment, arguments)
        return Answered(fields, as_text(fields))
    except BadArguments as error:
        hints = "; ".join(dict.fromkeys(one.hint for one in error.problems if one.hint))
        fields = failed(str(error), hints)
        return Answered(fields, as_text(fields), is_understood=False)
    except MemoryProblem as error:
        fields = failed(str(error), error.hint)
    except TimeoutError:
        fields = failed(f"it took longer than {LIMIT_S:.0f} s", "ask for less")
    except Exception:
        # A caller is told that it was no fault of its own; the log has the rest, but no arguments.
        log.exception("the operation %s failed", name)
        fields = failed(f"{name} failed; the log of the server says why")
    return Answered(fields, as_text(fields))


def failed(error: str, hint: str = "") -> dict[str, Any]:
    """The answer of what cannot be done."""
    return {"ok": False, "error": error, **({"hint": hint} if hint else {})}


def _parameter(parameter: inspect.Parameter, hint: Any) -> Parameter:
    kind, help_ = hint, ""
    if get_origin(hint) is Annotated:
        kind, help_ = get_args(hint)[:2]
    if parameter.default is inspect.Parameter.empty:
        return Parameter(parameter.name, kind, help_)
    return Parameter(parameter.name, kind, help_, parameter.default, required=False)
