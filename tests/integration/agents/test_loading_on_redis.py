"""Loading on a real server: processes that are killed, loaders at the same time, a server that
restarts between a question and its answer."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from commands import python
from dying_loader import SKILLS
from loading_samples import AGENT, library, manifest

from control_plane import AgentStore, RedisBackend, read_agent_history
from control_plane.embedded import Embedded
from dcf.agents.loading import (
    AgentLedger,
    LoadChecks,
    LoadRefused,
    agent_grants,
    decide_agent_approval,
    load_skill,
    pending_agent_approvals,
    unload_skill,
)
from dcf.tools import (
    ApprovalRequired,
    Dispatcher,
    Gate,
    PermissionDenied,
    Registry,
    ServerConfig,
    Toolbox,
    ToolResult,
)
from dcf.tools.stub import create_stub_app

PROGRAM = Path(__file__).with_name("dying_loader.py")
SERVERS = Registry([ServerConfig("bank", url="http://127.0.0.1:9/mcp")])


async def record(agents: AgentStore, agent_id: str = AGENT) -> dict[str, Any]:
    agent = await agents.get(agent_id)
    assert agent is not None
    return agent.record


async def killed(url: str, act: str, nth: int, when: str) -> bool:
    """Whether the process came to its death; else it came to its end."""
    arguments = [python(), str(PROGRAM), url, act, str(nth), when]
    done = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, timeout=60)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode != 0


@pytest.mark.parametrize("act", ["load", "unload"])
async def test_a_process_killed_at_any_call_leaves_no_half_state(redis_url: str, act: str) -> None:
    backend = RedisBackend.from_url(redis_url)
    agents = AgentStore(backend)
    known = library(*SKILLS)
    wholes = []
    for names in (["beside"], ["beside", "top"]):
        await agents.create(f"whole-{len(names)}", f"Whole {len(names)}")
        for name in names:
            await load_skill(agents, known, f"whole-{len(names)}", name)
        wholes.append(await record(agents, f"whole-{len(names)}"))
    before, done = wholes if act == "load" else wholes[::-1]

    deaths = 0
    for nth in range(1, 20):
        ended = True
        for when in ("before", "after"):
            old = await agents.get(AGENT)
            if old is not None:
                await agents.delete(old)
            await agents.create(AGENT, "Ann")
            for name in ["beside"] if act == "load" else ["beside", "top"]:
                await load_skill(agents, known, AGENT, name)
            if await killed(redis_url, act, nth, when):
                deaths += 1
                ended = False
                assert await record(agents) in (before, done), (nth, when)
                if act == "load":
                    await load_skill(agents, known, AGENT, "top")
                else:
                    await unload_skill(agents, AGENT, "top")
            assert await record(agents) == done, (nth, when)
            assert [entry async for entry in read_agent_history(agents, AGENT)]
        if ended:
            break
    assert deaths == (6 if act == "load" else 4)
    await backend.close()


async def test_loaders_with_connections_of_their_own_lose_nothing(redis_url: str) -> None:
    skills = [manifest(f"s{number}", "t:shared", f"t:own{number}") for number in range(12)]
    backends = [RedisBackend.from_url(redis_url) for _ in range(4)]
    stores = [AgentStore(backend) for backend in backends]
    await stores[0].create(AGENT, "Ann")
    known = library(*skills)
    await asyncio.gather(
        *(load_skill(stores[n % 4], known, AGENT, skill.name) for n, skill in enumerate(skills))
    )
    held = (await record(stores[0]))["tools"]["t:shared"]["holders"]
    assert set(held) == {skill.manifest_id for skill in skills}
    await asyncio.gather(
        *(unload_skill(stores[n % 4], AGENT, skill.name) for n, skill in enumerate(skills[1:]))
    )
    await stores[0].create("alone", "Alone")
    await load_skill(stores[0], known, "alone", "s0")
    assert await record(stores[0]) == await record(stores[0], "alone")
    for backend in backends:
        await backend.close()


@asynccontextmanager
async def stub(folder: Path) -> AsyncIterator[Toolbox]:
    """A toolbox of a real stub server that has two of three tools."""
    config = folder / "stub.json"
    tools = {name: {"defaultResponse": {"tool": name}} for name in ("price", "stock")}
    config.write_text(json.dumps({"seed": 1, "servers": {"shop": {"tools": tools}}}))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        settings = uvicorn.Config(create_stub_app(config), log_level="critical")
        server = uvicorn.Server(settings)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp/shop"
        async with Toolbox(Registry([ServerConfig("shop", url=url)])) as toolbox:
            yield toolbox
        server.should_exit = True
        await task


async def test_the_tools_of_one_skill_work_on_when_another_that_shares_them_is_unloaded(
    redis_url: str, tmp_path: Path
) -> None:
    agents = AgentStore(RedisBackend.from_url(redis_url))
    await agents.create(AGENT, "Ann")
    known = library(
        manifest("quote", "shop:price", "shop:stock", egress="internet"),
        manifest("refund", "shop:price", egress="internet"),
        manifest("wish", "shop:sing", egress="internet"),
    )
    async with stub(tmp_path) as toolbox:
        checks = LoadChecks(toolbox=toolbox)
        for name in ("quote", "refund"):
            assert (await load_skill(agents, known, AGENT, name, checks=checks)).warnings == ()
        with pytest.raises(LoadRefused, match="shop:sing: the server does not have it"):
            await load_skill(agents, known, AGENT, "wish", checks=checks)
        await unload_skill(agents, AGENT, "quote")

        ledger = await AgentLedger.open(agents, AGENT, session="s1")
        gate = Gate(await agent_grants(agents, AGENT), servers=toolbox.registry)
        dispatcher = Dispatcher(gate, toolbox, ledger)
        answer = await dispatcher.call("shop", "price", {"x": 1}, timeout_s=10)
        assert answer.data == {"tool": "price"}
        with pytest.raises(PermissionDenied):
            await dispatcher.call("shop", "stock", {"x": 1}, timeout_s=10)
    verdicts = [
        entry.event["verdict"]
        async for entry in read_agent_history(agents, AGENT)
        if entry.event["type"] == "ToolDecision"
    ]
    assert verdicts == ["allow", "deny"]
    await agents.backend.close()


class Bank:
    """A toolbox with one tool behind it."""

    def __init__(self) -> None:
        self.paid: list[Any] = []

    async def call(self, server: str, tool: str, arguments: Any, **how: Any) -> ToolResult:
        self.paid.append(arguments)
        return ToolResult({"paid": True}, "")


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_question_and_its_answer_survive_a_restart(short_dir: Path, decision: Any) -> None:
    embedded = Embedded(short_dir / "home")
    address = await embedded.start()
    bank: Any = Bank()

    async def pay(agents: AgentStore) -> Any:
        ledger = await AgentLedger.open(agents, AGENT, session="s1")
        gate = Gate(await agent_grants(agents, AGENT), servers=SERVERS)
        dispatcher = Dispatcher(gate, bank, ledger)
        return (await dispatcher.call("bank", "pay", {"x": 7}, timeout_s=5)).data

    async def restart() -> AgentStore:
        await embedded.stop()
        again = await embedded.start()
        return AgentStore(RedisBackend.from_url(again.url))

    try:
        agents = AgentStore(RedisBackend.from_url(address.url))
        risky = manifest("risky", "bank:pay", egress="internet", riskLevel="high")
        await agents.create(AGENT, "Ann")
        await load_skill(agents, library(risky), AGENT, "risky")
        with pytest.raises(ApprovalRequired):
            await pay(agents)
        agents = await restart()
        [waiting] = await pending_agent_approvals(agents)
        assert waiting.request.arguments == {"x": 7}
        await decide_agent_approval(agents, AGENT, decision=decision, by="operator")
        agents = await restart()
        if decision == "approve":
            assert await pay(agents) == {"paid": True}
        else:
            with pytest.raises(Exception, match="rejected by operator"):
                await pay(agents)
        assert bank.paid == ([{"x": 7}] if decision == "approve" else [])
        kinds = [entry.event["type"] async for entry in read_agent_history(agents, AGENT)]
        assert kinds[2:] == ["ToolDecision", "ApprovalRequested", "ApprovalDecided", "ToolDecision"]
    finally:
        await embedded.stop()
