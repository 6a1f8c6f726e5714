"""The graph is killed (SIGKILL) under a session at work, which goes on and ends, and is told when
the graph is back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from commands import python
from integration.sessions.hosts import ME

from control_plane import Outbox, RedisBackend, Store
from control_plane.embedded import Embedded
from dcf.knowledge import GraphAway, GraphConnection
from dcf.mcp.task_story import explained
from dcf.sessions import NewCompanion, Sessions
from dcf.sessions.conductor import Conductor, Reply
from dcf.sessions.guidance import open_guidance

GENERATED = Path(__file__).parents[3] / "generated"


@asynccontextmanager
async def companion_host(env: dict[str, str]) -> AsyncIterator[None]:
    """``dcf companion``, which carries facts to the graph too."""
    process = await asyncio.create_subprocess_exec(
        *(python(), "-m", "dcf.cli", "companion"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, **env},
    )
    try:
        assert process.stdout is not None
        assert json.loads(await process.stdout.readline())["event"] == "ready"
        yield
    finally:
        process.terminate()
        await process.wait()


async def told(url: str) -> dict[str, str]:
    """The delegations that the graph knows, by their ids, and the session with its state."""
    async with GraphConnection(url) as graph:
        rows = await graph.read(
            "MATCH (n) WHERE n:Delegation OR n:Session "
            "RETURN coalesce(n.task_id, n.session_id, n.name), coalesce(n.status, n.state)"
        )
    return dict(rows)


async def until_told(url: str, wanted: dict[str, str]) -> None:
    found: dict[str, str] = {}
    try:
        async with asyncio.timeout(40):
            while not wanted.items() <= found.items():
                await asyncio.sleep(0.1)
                found = await told(url)
    except TimeoutError:
        raise AssertionError(f"the graph knows {found}, and not {wanted}") from None


async def last_word(conductor: Conductor, said: Reply) -> Reply:
    while (answer := await conductor.answer("s1", said.request)) is None:
        await conductor.attend("s1")
        await asyncio.sleep(0.05)
    return answer


async def closed(sessions: Sessions, state: str) -> None:
    while (await sessions.get("s1")).state != state:
        await asyncio.sleep(0.05)


@pytest.mark.timeout(120)
async def test_a_session_works_and_ends_without_the_graph_and_is_told_when_it_is_back(
    redis_url: str, short_dir: Path
) -> None:
    graph = Embedded(short_dir).graph
    url = (await graph.start()).url
    env = {
        "DCF_HOME": str(short_dir / "home"),
        "DCF_REDIS_URL": redis_url,
        "DCF_GRAPH_URL": url,
        "DCF_GENERATED": str(GENERATED),
    }
    backend = RedisBackend.from_url(redis_url)
    sessions = Sessions(Store(backend, outbox=True))
    guidance = open_guidance(sessions, env)
    conductor = Conductor(sessions, guidance, ME)
    try:
        async with companion_host(env), asyncio.timeout(90):
            await sessions.create("s1", ME, "help")
            await sessions.employ("s1", NewCompanion(ME, name="a"))
            first = await last_word(conductor, await conductor.turn("s1", "sort the letters"))
            assert first.text.startswith("Task 1 is done.")
            [before] = [row.task_id for row in first.rows]
            assert before is not None
            await until_told(url, {before: "succeeded", "s1": "active"})

            pid = (await graph.status()).pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            while (await graph.status()).running:
                await asyncio.sleep(0.02)
            with pytest.raises(GraphAway):
                await told(url)
            more = await last_word(
                conductor, await conductor.turn("s1", "- fold them\n- post them")
            )
            assert more.text.startswith("All 2 tasks are done.")
            during = [row.task_id for row in more.rows if row.task_id is not None]
            analysed = await guidance.analyse("s1", ME, reason="milestone", by="me")
            assert analysed.analysis.tasks == 3
            assert any("other sessions are not known" in one for one in analysed.warnings)
            await conductor.finalize("s1")
            await closed(sessions, "completed")
            story = await explained(sessions, "s1", during[0])
            assert "succeeded, by companion-a" in story["summary"]
            lag = await Outbox(backend).lag()
            assert lag.waiting and not lag.refused

            assert (await graph.start()).url == url
            everything = dict.fromkeys([before, *during], "succeeded")
            await until_told(url, {**everything, "s1": "completed"})
            assert set(await told(url)) == {*everything, "s1"}
    finally:
        await guidance.close()
        await backend.close()
        await graph.stop()
