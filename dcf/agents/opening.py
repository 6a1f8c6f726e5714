"""Which runtime agents live in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.agents.models import Allowance, Models
    from dcf.agents.runtime import AgentRuntime, UseOf
    from dcf.memory import Agent, Memory

RUNTIMES = ("local", "letta")


def runtime_named(environment: Mapping[str, str]) -> str:
    """``local`` or ``letta``, as ``DCF_RUNTIME`` says (default: local). Raises LettaSettings."""
    name = environment.get("DCF_RUNTIME") or "local"
    if name not in RUNTIMES:
        from dcf.agents.letta import LettaSettings

        raise LettaSettings(
            [
                Problem(
                    "runtime_unknown",
                    f"DCF_RUNTIME is {name!r}; runtimes are {' and '.join(RUNTIMES)}",
                    hint="leave it unset for agents in DCF's own memory",
                )
            ]
        )
    return name


@asynccontextmanager
async def open_runtime(
    memory: Memory,
    environment: Mapping[str, str],
    *,
    models: Models | None = None,
    allowance_of: Callable[[Agent], Allowance] | None = None,
    use_of: UseOf | None = None,
) -> AsyncIterator[AgentRuntime]:
    """The runtime that ``environment`` chooses, until the block ends: LocalAgents on ``memory``
    with these settings, or LettaAgents on the server that DCF_LETTA_URL names. There models are the
    server's: of the settings ``use_of`` counts, and of the memory the labels that new agents get.

    Raises LettaSettings, LettaMissing, LettaUnreachable, LettaDenied.
    """
    runtime: AgentRuntime
    if runtime_named(environment) == "local":
        from dcf.agents.local import LocalAgents

        runtime = LocalAgents(
            memory,
            models=models,
            environment=environment,
            allowance_of=allowance_of,
            use_of=use_of,
        )
    else:
        runtime = await _on_letta(memory, environment, use_of)
    try:
        yield runtime
    finally:
        await runtime.aclose()


async def _on_letta(
    memory: Memory,
    environment: Mapping[str, str],
    use_of: UseOf | None,
) -> AgentRuntime:
    """The runtime on a server that answers and takes the password."""
    from dcf.agents.letta import LettaAgents, LettaServer

    runtime = LettaAgents(
        LettaServer.of(environment),
        defaults=await memory.labels.defaults(),
        use_of=use_of,
    )
    try:
        await runtime.check()
    except BaseException:
        await runtime.aclose()
        raise
    return runtime
