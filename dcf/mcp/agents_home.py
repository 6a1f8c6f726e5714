"""The agents of the runtime as one server has them: opened when they are first asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from control_plane import AgentStore
from dcf.agents import AgentRuntime, LocalAgents, meanwhile, open_runtime, sleeptime
from dcf.agents.models import Models
from dcf.mcp.envelope import Refused
from dcf.mcp.generated_folder import GeneratedFolder
from dcf.memory import Memory, Source, random_id
from dcf.worker import AgentAllowances, AgentTools, SkillsInUse

if TYPE_CHECKING:
    from dcf.mcp.platform import Platform


@dataclass(frozen=True, slots=True)
class Home:
    """``runtime`` is where agents live; ``memory`` the file with what they remember, if that is
    where they do."""

    runtime: AgentRuntime
    memory: Memory
    is_local: bool


class AgentsHome:
    """Opens the memory ``source`` and the runtime that ``env`` chooses, once. Messages that were
    left for agents are answered as long as it is open, where it ``delivers`` them."""

    def __init__(
        self,
        source: Source,
        records: AgentStore,
        skills: GeneratedFolder,
        env: Mapping[str, str],
        templates: Path | None,
        *,
        delivers: bool = True,
    ) -> None:
        self._source = source
        self._records = records
        self._skills = skills
        self._env = env
        self.templates = templates
        self._delivers = delivers
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._home: Home | None = None

    async def get(self) -> Home:
        """What is there. Raises a MemoryProblem, LettaSettings and what else keeps the runtime from
        being used."""
        async with self._opening:
            if self._home is None:
                self._home = await self._opened()
            return self._home

    async def close(self) -> None:
        """End the turns under way, and close the memory."""
        self._home = None
        await self._stack.aclose()

    async def _opened(self) -> Home:
        async with AsyncExitStack() as stack:
            opened = Memory.open(self._source, clock=_now_ms, new_id=random_id)
            memory = await stack.enter_async_context(opened)
            allowances = AgentAllowances(self._records, lambda: self._skills.last_policy)
            models = Models(self._env)
            runtime = await stack.enter_async_context(
                open_runtime(
                    memory,
                    self._env,
                    models=models,
                    allowance_of=allowances.of,
                    use_of=AgentTools(self._records, _CurrentSkills(self._skills)).use_of,
                )
            )
            local = isinstance(runtime, LocalAgents)
            if isinstance(runtime, LocalAgents) and self._delivers:
                await stack.enter_async_context(meanwhile(runtime.deliver_for_ever()))
                resting = sleeptime(memory, models, self._env).run_for_ever()
                await stack.enter_async_context(meanwhile(resting))
            self._stack = stack.pop_all()
            return Home(runtime, memory, local)


async def local_memory(platform: Platform) -> Memory:
    """The memory of agents that live in DCF. Raises Refused where they live on a server."""
    home = await platform.home()
    if not home.is_local:
        raise Refused(
            "not_here",
            "agents live on a server of their own (DCF_RUNTIME), which keeps what they remember",
        )
    return home.memory


class _CurrentSkills:
    """The generated skills as they are now, as workers have them."""

    def __init__(self, skills: GeneratedFolder) -> None:
        self._skills = skills

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[SkillsInUse]:
        rules = await self._skills.rules()
        yield SkillsInUse(rules.skills, rules.policy, await self._skills.toolbox())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
