"""A worker process whose agent looks and pays, and which kills itself at the moment it is told.

``python mortal_worker.py REDIS_URL TOOLS_URL NAME [MOMENT]``; moments of the second performance,
which is the one after the approval: ``begun`` (the lease is taken), ``noted`` (the call has its
number), ``called`` (the tool has answered), ``performed`` (the work is done, nothing committed).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from integration.worker.crew import crew_on
from unit.worker.test_worker_agent_tasks import a_skill

from dcf.agents import Assignment, Report
from dcf.skills import Permissions, SkillCatalog, SkillTool
from dcf.tools import Registry, ServerConfig, Toolbox, ToolResult
from dcf.worker import SkilledAgents

_SCHEMA = {"type": "object"}
LOOK = SkillTool("shop", "look", "look", "", True, _SCHEMA)
PAY = SkillTool("shop", "pay", "pay", "", True, _SCHEMA)
_PAYING = replace(a_skill("paying", PAY), permissions=Permissions(risk_level="high"))
CATALOG = SkillCatalog([a_skill("looking", LOOK), _PAYING])
BINDING = {"agent_template_ref": {"name": "any"}, "skills": ["looking", "paying"]}
ORDER = {"order": "o-1"}
# Long enough for a busy machine, short enough to wait for.
TTL_MS = 1_500

Die = Callable[[str], None]


class MortalTools(Toolbox):
    """A toolbox around whose calls the process may end."""

    def __init__(self, registry: Registry, die: Die) -> None:
        super().__init__(registry)
        self._die = die

    async def call(self, *call: Any, **more: Any) -> ToolResult:
        if call[1] == PAY.tool_name:
            self._die("noted")
        result = await super().call(*call, **more)
        if call[1] == PAY.tool_name:
            self._die("called")
        return result


class MortalAgent:
    """Looks, pays, and may not live to say so."""

    def __init__(self, die: Die) -> None:
        self._die = die
        self._performed = 0

    async def perform(self, _assignment: Assignment, call_tool: Any, _observe: Any) -> Report:
        self._performed += 1
        if self._performed > 1:
            self._die("begun")
        await call_tool(LOOK, ORDER)
        paid = await call_tool(PAY, ORDER)
        self._die("performed")
        return Report(data=paid.data, summary="paid")


async def work(redis_url: str, tools_url: str, name: str, moment: str) -> None:
    """Work until somebody ends the process."""

    def die(now: str) -> None:
        if now == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    registry = Registry([ServerConfig("shop", url=f"{tools_url}/mcp/shop")])
    async with crew_on(redis_url) as crew, MortalTools(registry, die) as tools:
        agents = SkilledAgents(CATALOG, tools, MortalAgent(die), crew.store)
        crew.worker(agents=agents, name=name, ttl_ms=TTL_MS)
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:4], sys.argv[4] if len(sys.argv) > 4 else ""))
