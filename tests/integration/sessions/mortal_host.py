"""A companion host as a process, whose agents look and pay, and which kills itself at the moment it
is told: ``begun`` (the lease is taken), ``called`` (the tool has answered), ``performed`` (the work
is done, nothing committed).

``python mortal_host.py REDIS_URL TOOLS_URL NAME [MOMENT]``: one that serves one companion.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

from integration.sessions.hosts import hosts_on
from unit.worker.test_worker_agent_tasks import a_skill

from dcf.agents import Assignment, Report
from dcf.skills import SkillCatalog, SkillTool
from dcf.tools import Registry, ServerConfig, Toolbox
from dcf.worker import SkilledAgents

_SCHEMA = {"type": "object"}
LOOK = SkillTool("shop", "look", "look", "", True, _SCHEMA)
PAY = SkillTool("shop", "pay", "pay", "", True, _SCHEMA)
CATALOG = SkillCatalog([a_skill("paying", LOOK, PAY)])
# Long enough for a busy machine, short enough to wait for.
TTL_MS = 1_500


class MortalAgent:
    """Looks, pays, and may not live to say so."""

    def __init__(self, moment: str) -> None:
        self._moment = moment

    async def perform(self, assignment: Assignment, call_tool: Any, _observe: Any) -> Report:
        self._die("begun")
        await call_tool(LOOK, assignment.input)
        paid = await call_tool(PAY, assignment.input)
        self._die("called")
        report = Report(data=paid.data, summary="paid")
        self._die("performed")
        return report

    def _die(self, now: str) -> None:
        if now == self._moment:
            os.kill(os.getpid(), signal.SIGKILL)


async def serve(redis_url: str, tools_url: str, name: str, moment: str) -> None:
    """Serve until somebody ends the process."""
    registry = Registry([ServerConfig("shop", url=f"{tools_url}/mcp/shop")])
    async with hosts_on(redis_url) as hosts, Toolbox(registry) as tools:
        agents = SkilledAgents(CATALOG, tools, MortalAgent(moment), hosts.sessions.store)
        hosts.host(agents, name=name, most=1, ttl_ms=TTL_MS)
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:4], sys.argv[4] if len(sys.argv) > 4 else ""))
