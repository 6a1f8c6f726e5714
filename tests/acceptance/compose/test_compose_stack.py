"""The stack of compose.yaml, each of our services by its own command and environment.

No container engine is needed, and none is used: the image itself is NOT built here.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from compose_file import ROOT, services
from local_stack import LocalStack
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from dcf.agents.loading import grants_of
from dcf.skills import SkillCatalog
from dcf.tools import Policy, Registry
from dcf.tools.gate.egress import within

# Five processes start one after the other, on a machine that may have much else to do.
pytestmark = pytest.mark.timeout(300)

ENV = {
    "REDIS_PASSWORD": "redis0password0of0this0test",
    "FALKORDB_PASSWORD": "graph0password0of0this0test",
    "DCF_TOKEN": "token0of0clients0of0this0test",
    "DCF_STUB_TOKEN": "token0of0workers0of0this0test",
}
_OVER_S = 60.0
_T = TypeVar("_T")


@pytest.fixture
def stack(short_dir: Path) -> Iterator[LocalStack]:
    """Nothing runs yet; whatever does is gone after the test."""
    made = LocalStack(short_dir / "stack", ENV)
    yield made
    made.down()


def _client(stack: LocalStack) -> AbstractAsyncContextManager[Client]:
    return _client_of(f"http://127.0.0.1:{stack.port(8337)}/mcp/planner")


@asynccontextmanager
async def _client_of(url: str) -> AsyncIterator[Client]:
    bearer = httpx2.AsyncClient(headers={"authorization": f"Bearer {ENV['DCF_TOKEN']}"})
    async with bearer, Client(streamable_http_client(url, http_client=bearer)) as client:
        yield client


async def _use(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    answer = (await client.call_tool(name, arguments)).structured_content
    assert isinstance(answer, dict) and answer["error"] is None, answer
    return answer


async def _who(client: Client, run: str, what: str) -> str | None:
    """The worker that had the carrier booked (``ToolDecision``), or finished with it
    (``StateDone``)."""
    events = (await _use(client, "read_history", workflow_id=run))["events"]
    of_it = [event for event in events if (event["type"], event.get("path")) == (what, "ShipOrder")]
    booking = (None, "shipping:create_shipment")
    return next((str(event["owner"]) for event in of_it if event.get("tool") in booking), None)


async def _end(client: Client, run: str) -> str | None:
    """The status of a run that is over."""
    status = (await _use(client, "explain_workflow", workflow_id=run))["run_status"]
    return None if status == "running" else str(status)


async def _until(client: Client, run: str, true: Callable[[], Awaitable[_T | None]]) -> _T:
    """The first true answer; what happened in the run, when there is none in a minute."""
    try:
        async with asyncio.timeout(_OVER_S):
            while not (answer := await true()):
                await asyncio.sleep(0.1)
            return answer
    except TimeoutError:
        happened = await _use(client, "read_history", workflow_id=run)
        raise AssertionError(happened["events"][-10:]) from None


async def test_a_run_through_the_stack_survives_the_death_of_its_worker(stack: LocalStack) -> None:
    stack.interpreters = True
    # A shorter lease than the file's half minute, so that the test need not wait for it to end.
    workers = stack.up("worker", "worker", more=("--lease-ttl", "3"))
    stack.up("dcf-mcp", "graphiti-mcp")
    assert {process.service.name for process in stack.running} == {
        "redis", "skills", "stub-mcp", "worker", "dcf-mcp", "falkordb", "graphiti-mcp",
    }  # fmt: skip
    workflow = (ROOT / "workflows/order-processing.json").read_text("utf-8")
    order = (ROOT / "workflows/inputs/order-demo.json").read_text("utf-8")

    async with _client(stack) as client:
        checked = await _use(client, "validate_workflow", workflow_json=workflow)
        assert checked["exit_code"] == 0
        created = await _use(
            client,
            "create_workflow_control_plane",
            workflow_json=workflow,
            input_json=order,
            run_id="stack-1",
        )
        run = created["workflow_id"]
        # The carrier takes three seconds to book: the worker is in the middle of it.
        booking = await _until(client, run, lambda: _who(client, run, "ToolDecision"))
        [victim] = [process for process in workers if process.worker == booking]
        victim.child.send_signal(signal.SIGKILL)
        assert await _until(client, run, lambda: _end(client, run)) == "succeeded"
        read = await _use(client, "read_workflow_control_plane", workflow_id=run)
        finished = await _who(client, run, "StateDone")
        ended = await _use(client, "finalize_workflow", workflow_id=run)

    [other] = [process for process in workers if process is not victim]
    assert finished == other.worker
    shipment = read["outputs"]["ShipOrder"]["data"]["shipment"]
    assert shipment["shipment_id"] == "SHP-ORD-1003"
    # Sealed where the file has a volume.
    assert Path(ended["audit_trail_path"]).is_relative_to(stack.folder / "srv/workflows/runs")
    assert _effects(stack).count("create_shipment") == 1
    await _until_told(stack, run)
    _the_graph_wants_its_password(stack)

    for process in reversed(stack.running):
        if process not in (victim,) and process.service.health:
            code = stack.stop(process)
            assert code == 0, (process.service.name, process.log.read_text("utf-8"))
    _no_secret_in(stack)
    _nothing_outside_of_volumes(stack)


async def _until_told(stack: LocalStack, run: str) -> None:
    """The graph's server tells its clients how the run went."""
    url = f"http://127.0.0.1:{stack.port(8000)}/mcp/"
    assert httpx2.post(url, json={}).status_code == 401
    async with _client_of(url) as client, asyncio.timeout(_OVER_S):
        while True:
            answer = await client.call_tool("get_episodes", {"max_episodes": 100})
            told = {episode["name"] for episode in json.loads(_text(answer))["episodes"]}
            if {run, f"{run}/ShipOrder#1"} <= told:
                return
            await asyncio.sleep(0.2)


def _text(answer: CallToolResult) -> str:
    [part] = answer.content
    assert isinstance(part, TextContent)
    return part.text


def _the_graph_wants_its_password(stack: LocalStack) -> None:
    [graph] = [process for process in stack.running if process.service.name == "falkordb"]
    assert stack.check(graph).returncode == 0
    graph.environment["REDISCLI_AUTH"] = "wrong"
    assert stack.check(graph).returncode == 1


def _effects(stack: LocalStack) -> list[str]:
    """The tools whose calls the stub let take effect, as it counted them itself."""
    url = f"http://127.0.0.1:{stack.port(8765)}/calls"
    assert httpx2.get(url).status_code == 401
    answer = httpx2.get(url, headers={"authorization": f"Bearer {ENV['DCF_STUB_TOKEN']}"})
    calls = answer.json()["calls"]
    return [call["tool"] for call in calls if not call.get("replayed")]


def _no_secret_in(stack: LocalStack) -> None:
    for process in stack.running:
        logged = process.log.read_text("utf-8")
        assert not any(secret in logged for secret in ENV.values()), process.service.name


def _nothing_outside_of_volumes(stack: LocalStack) -> None:
    """In a container all else is read-only."""
    volumes = {
        volume.split(":")[1].removeprefix("/srv/dcf/")
        for service in stack.services.values()
        if service.is_ours
        for volume in service.volumes
    }
    srv = stack.folder / "srv"
    written = [str(file.relative_to(srv)) for file in srv.rglob("*") if file.is_file()]
    assert written
    assert all(name.startswith(tuple(f"{volume}/" for volume in volumes)) for name in written)


async def test_only_the_bearer_of_the_token_comes_in_under_a_name_of_the_server(
    stack: LocalStack,
) -> None:
    stack.up("dcf-mcp")
    url = f"http://127.0.0.1:{stack.port(8337)}/mcp"
    bearer = {
        "authorization": f"Bearer {ENV['DCF_TOKEN']}",
        "accept": "application/json, text/event-stream",
    }
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx2.AsyncClient() as http:

        async def status(**more: str) -> int:
            return (await http.post(url, json=listing, headers=bearer | more)).status_code

        # As other containers of the network call it, and as this machine does.
        assert await status(host="dcf-mcp:8337") == 200
        assert await status(host="localhost:8337") == 200
        assert await status(host="evil.example") == 421
        assert await status(authorization=f"Bearer {ENV['DCF_STUB_TOKEN']}") == 401


def test_health_checks_tell_who_is_not_well(stack: LocalStack) -> None:
    [mcp] = stack.up("dcf-mcp")
    stack.interpreters = True  # for a worker that is stopped, and not who forked it
    [worker] = stack.up("worker")
    redis, stub = (
        next(one for one in stack.running if one.service.name == name)
        for name in ("redis", "stub-mcp")
    )
    redis.environment["REDISCLI_AUTH"] = "wrong"
    assert stack.check(redis).returncode == 1
    # A configuration that cannot be read: the tools of before are served, and that is told.
    (stack.folder / "srv/generated/stub/stub_config.json").write_text("{}")
    checked = stack.check(stub)
    assert (checked.returncode, checked.stdout) == (1, "")
    assert "the stub server is degraded" in checked.stderr
    # A process that is there and hangs.
    worker.child.send_signal(signal.SIGSTOP)
    worker.service.raw["healthcheck"]["test"].extend(["--within", "1"])
    _until_unwell(stack, worker, "gave its last sign of life")
    worker.child.send_signal(signal.SIGCONT)
    # Redis goes, and both that need it say so.
    assert stack.stop(redis) == 0
    for process in (mcp, worker):
        checked = stack.check(process)
        assert checked.returncode == 1
        assert "edis" in checked.stderr and ENV["REDIS_PASSWORD"] not in checked.stderr
    mcp.child.kill()
    mcp.child.wait()
    assert "does not answer" in stack.check(mcp).stderr


def test_a_host_of_companions_is_well_while_it_gives_signs(stack: LocalStack) -> None:
    [host, other] = stack.up("companions", "companions")
    assert stack.check(host).stdout.startswith("healthy: ")
    other.child.send_signal(signal.SIGKILL)
    assert stack.stop(host) == 0
    # Whoever ends says so at once; who is killed is missed when its last sign holds no longer.
    host.service.raw["healthcheck"]["test"].extend(["--name", host.worker])
    checked = stack.check(host)
    assert checked.returncode == 1
    assert f"companion host {host.worker} gives no sign of life" in checked.stderr


def _until_unwell(stack: LocalStack, process: Any, why: str) -> None:
    for _ in range(50):
        checked = stack.check(process)
        if checked.returncode != 0:
            assert checked.returncode == 1 and why in checked.stderr
            return
    raise AssertionError("it stays well")


def test_every_example_skill_may_call_its_tools_in_the_network_of_the_file() -> None:
    worker = services(ENV)["worker"].environment
    generated = ROOT / "generated"
    registry = Registry.load(generated / "registry.json", worker)
    rules = Policy.load(generated / "policy.json").egress
    far = [
        (grant.skill, server.url)
        for grant in grants_of(SkillCatalog.load(generated))
        if not within(rules.reach(server := registry.server(grant.server_id)), grant.egress)
    ]
    assert far == []
    assert registry.server("orders").url == "http://stub-mcp:8765/mcp/orders"
    sent = registry.server("orders").headers
    assert sent == {"Authorization": f"Bearer {ENV['DCF_STUB_TOKEN']}"}


def test_the_skills_are_generated_again_from_the_same_sources_without_a_change(
    stack: LocalStack,
) -> None:
    stack.up("skills")
    generated = stack.folder / "srv/generated"
    before = {file: file.read_bytes() for file in generated.rglob("*.json")}
    assert json.loads((generated / "registry.json").read_bytes())["servers"]
    stack.up("skills")
    assert {file: file.read_bytes() for file in generated.rglob("*.json")} == before


def test_what_is_logged_is_kept_in_the_volume_and_the_project_is_only_read(
    stack: LocalStack,
) -> None:
    (stack.folder / "srv/project/pay.py").write_text("def charge():\n    return 'card'\n")
    [process] = stack.up("retrieval")
    url = f"http://127.0.0.1:{stack.port(3030)}"
    bearer = {"authorization": f"Bearer {ENV['DCF_TOKEN']}"}
    artifact = {"text": "the card was refused", "tags": ["error"]}
    assert httpx2.post(f"{url}/log", json=artifact).status_code == 401
    assert httpx2.post(f"{url}/log", json=artifact, headers=bearer).status_code == 200
    asked = {"query": "charge a refused card"}
    answer = httpx2.post(f"{url}/augmented-context", json=asked, headers=bearer).json()
    assert {one["type"] for one in answer["context"]} == {"memory", "code_snippet"}
    assert stack.stop(process) == 0
    assert (stack.folder / "srv/retrieval/memory.db").is_file()
    assert [file.name for file in (stack.folder / "srv/project").iterdir()] == ["pay.py"]
    _no_secret_in(stack)
    _nothing_outside_of_volumes(stack)
