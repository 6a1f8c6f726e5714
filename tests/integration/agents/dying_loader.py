"""A process that loads or unloads one skill and is killed at one of its calls to the server.

python dying_loader.py URL load|unload NTH before|after
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "unit" / "agents"))

from loading_samples import AGENT, Mortal, library, manifest

from control_plane import AgentStore, RedisBackend
from dcf.agents.loading import load_skill, unload_skill

SKILLS = [
    manifest("top", "t:a", "t:b", needs=["low"], data={"d": "x" * 5000}),
    manifest("low", "t:b", "t:c"),
    manifest("beside", "t:a", "t:c", data={"d": "y"}),
]


class Killed(Mortal):
    """Nothing is cleaned up, nothing is caught: the process is gone."""

    async def _strike(self, call: Any) -> Any:
        self.calls += 1
        if self.calls != self._nth:
            return await call()
        if self._after:
            await call()
        os.kill(os.getpid(), signal.SIGKILL)
        return None


async def main(url: str, act: str, nth: str, when: str) -> None:
    backend = RedisBackend.from_url(url)
    agents = AgentStore(Killed(backend, int(nth), after=when == "after"))
    if act == "load":
        await load_skill(agents, library(*SKILLS), AGENT, "top")
    else:
        await unload_skill(agents, AGENT, "top")
    await backend.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
