"""A support desk as its clients have it: server, companion host and stub tools are processes."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import Client

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
sys.path.insert(0, str(Path(__file__).parents[1] / "mcp"))

from dcf_user import ROOT
from mcp_site import Site

BOSS = "support-lead"
SLOW = {"get_ticket": 700, "track_shipment": 700}
"""What tools take (ms) of which two are in work at once."""
PATIENCE_S = 30


class Desk(Site):
    """A user with all of that, who talks to it with MCP clients alone."""

    url: str

    def open(self) -> None:
        """Start what is there until the end."""
        generated = self.folder / "generated"
        shutil.copytree(ROOT / "generated", generated)
        self.env |= {"DCF_GENERATED": str(generated)}
        config = generated / "stub" / "stub_config.json"
        stub = json.loads(config.read_text())
        for server in stub["servers"].values():
            for name in SLOW.keys() & server["tools"].keys():
                server["tools"][name]["latencyMs"] = {"default": SLOW[name]}
        config.write_text(json.dumps(stub))
        done = self("up")
        assert done.code == 0, done.err
        host = self.start("companion")
        self.url = self.serve()
        self.ready_host(host)

    def ready_host(self, child: subprocess.Popen[str]) -> None:
        """Wait until the companion host is ready."""
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["event"] == "ready"

    def client(self, role: str) -> Client:
        """A client that has the tools of ``role`` and no others."""
        return Client(f"{self.url}/{role}")


async def use(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The whole answer of a tool."""
    answer = (await client.call_tool(tool, arguments)).structured_content
    assert isinstance(answer, dict)
    return answer


async def good(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The answer of a tool that must not fail."""
    answer = await use(client, tool, **arguments)
    assert answer["error"] is None, answer
    return answer


async def until(
    client: Client, tool: str, holds: Callable[[dict[str, Any]], Any], /, **arguments: Any
) -> dict[str, Any]:
    """The first answer that ``holds``."""
    answer: dict[str, Any] = {}
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not holds(answer := await good(client, tool, **arguments)):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"{tool} did not come to it: {answer}") from None
    return answer


async def open_session(
    conductor: Client,
    session_id: str,
    companions: dict[str, str],
    *,
    by: str = BOSS,
    **fields: Any,
) -> None:
    """A session with companions (name to specialization) that are all served."""
    await good(
        conductor,
        "create_session_context",
        session_id=session_id,
        conductor_id=by,
        objective="help those who write to us",
        **fields,
    )
    for name, specialization in companions.items():
        await good(
            conductor,
            "create_companion",
            session_id=session_id,
            conductor_id=by,
            companion_name=name,
            specialization=specialization,
        )
    await until(
        conductor,
        "list_session_companions",
        lambda answer: all(one["served"] for one in answer["companions"]),
        session_id=session_id,
    )


def rules(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What fired in a turn, by the names of the rules."""
    return {one["rule"]: one for one in answer["fired"]}
