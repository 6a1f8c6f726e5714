"""The server as operators and clients meet it: over HTTP and stdio, with and without token."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from typing import Any

import httpx2
import pytest
from commands import python
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_site import Site

from dcf.mcp import ROLES, load_catalogue

TOKEN = "correct-horse-battery-staple"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "plain", "version": "1"},
    },
}
LIST_RUNS = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "list_runs", "arguments": {}},
}


async def names_of(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_tool_answers_over_http_in_both_generations(site: Site, mode: str) -> None:
    async with Client(site.serve(), mode=mode) as client:
        names = await names_of(client)
        assert names == list(load_catalogue().tools())
        for name in names:
            result = await client.call_tool(name, {})
            answer = result.structured_content
            assert isinstance(answer, dict) and {"status", "error"} <= answer.keys(), name
            assert result.is_error == (answer["error"] is not None)


async def test_every_tool_answers_over_stdio(site: Site) -> None:
    server = StdioServerParameters(
        command=python(),
        args=["-m", "dcf.cli", "mcp"],
        env=site.env,
        cwd=site.folder,
    )
    async with Client(server) as client:
        names = await names_of(client)
        assert names == list(load_catalogue().tools())
        for name in names:
            answer = (await client.call_tool(name, {})).structured_content
            assert isinstance(answer, dict) and {"status", "error"} <= answer.keys(), name


async def test_stdio_serves_one_role_and_ends_at_a_signal(site: Site) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dcf.cli", "mcp", "--role", "worker",
        env=site.env, cwd=site.folder, stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    assert json.loads(await child.stdout.readline())["result"]["serverInfo"]["name"] == "dcf"
    child.send_signal(signal.SIGTERM)
    async with asyncio.timeout(10):
        assert await child.wait() == 0


async def test_a_coding_agent_logs_and_asks_without_any_redis(site: Site) -> None:
    shop, home = site.folder / "shop", site.folder / "own-home"
    shop.mkdir()
    (shop / "cards.py").write_text("def charge_card(card):\n    return card.charge()\n")
    env = {name: value for name, value in site.env.items() if name != "DCF_REDIS_URL"}
    env |= {"DCF_HOME": str(home), "DCF_RETRIEVAL_ROOTS": str(shop)}
    server = StdioServerParameters(
        command=python(), args=["-m", "dcf.cli", "mcp", "--role", "coder"], env=env, cwd=shop
    )
    async with Client(server) as client:
        assert await names_of(client) == ["log_artifact", "augmented_context"]
        text = "charge_card fails for guests"
        logged = (await client.call_tool("log_artifact", {"text": text})).structured_content
        assert logged is not None and logged["status"] == "kept"
        asked = {"query": "why does charge_card fail?", "limits": 3}
        found = (await client.call_tool("augmented_context", asked)).structured_content
    assert found is not None
    assert {one["uri"] for one in found["context"]} == {
        logged["uri"],
        "dcf://code/cards.py/line/1-2",
    }
    (warning,) = found["warnings"]
    assert "'limits' is ignored" in warning and "did you mean 'limit'?" in warning
    assert not (home / "redis").exists() and not (home / "run").exists()


def test_a_coding_agent_is_told_nothing_of_skills_and_approvals(site: Site) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dcf.cli", "mcp", "--role", "coder"],
        input=f"{json.dumps(INITIALIZE)}\n".encode(),
        capture_output=True,
        env=site.env,
        cwd=site.folder,
        timeout=60,
        check=True,
    )
    told = done.stderr.decode()
    assert "serving with no Redis" in told
    assert "skills" not in told and "approvals" not in told


async def test_a_role_is_shown_its_tools_alone(site: Site) -> None:
    url = site.serve()
    for role in ROLES:
        for address in (f"{url}/{role}", f"{url}?role={role}"):
            async with Client(address) as client:
                assert await names_of(client) == list(load_catalogue().tools(role))
    async with Client(f"{url}/companion") as client:
        result = await client.call_tool("redrive_workflow", {"workflow_id": "r"})
        assert str(result.structured_content).count("unknown_tool") == 1
    assert httpx2.get(f"{url}/janitor").status_code == 404
    async with Client(site.serve("--role", "worker")) as client:
        assert await names_of(client) == list(load_catalogue().tools("worker"))


@pytest.mark.parametrize("bad", [TOKEN, "two\nlines", "ümlaut"])
def test_an_approval_token_that_is_no_secret_is_refused(site: Site, bad: str) -> None:
    site.env |= {"DCF_TOKEN": TOKEN, "DCF_APPROVAL_TOKEN": bad}
    for command in (("serve", "--port", 0), ("mcp",)):
        done = site(*command, "--json")
        assert done.code == 2
        (problem,) = done.json["problems"]
        assert (problem["code"], problem["file"]) == ("CLI_APPROVAL_TOKEN", "DCF_APPROVAL_TOKEN")
        assert bad not in done.out


async def test_without_an_approval_token_nobody_decides_and_the_server_says_so(site: Site) -> None:
    decision = {"decision": "approve", "by": "operator", "digest": "d", "workflow_id": "r"}
    async with Client(site.serve()) as client:
        assert site.ready["decisions"] is None
        for more in ({}, {"approval_token": ""}, {"approval_token": TOKEN}):
            result = await client.call_tool("decide_approval", {**decision, **more})
            assert isinstance(result.structured_content, dict)
            assert result.structured_content["error"].startswith("approval_forbidden")
    site.server.terminate()
    _out, logged = site.server.communicate(timeout=15)
    assert "set DCF_APPROVAL_TOKEN" in logged


async def test_decisions_over_the_wire_want_the_approval_token(site: Site) -> None:
    site.env["DCF_APPROVAL_TOKEN"] = TOKEN
    async with Client(site.serve()) as client:
        assert site.ready["decisions"] == "DCF_APPROVAL_TOKEN"
        call = {"agent_id": "nobody", "approval_id": "x", "digest": "sha256:0"}
        decision = {"decision": "approve", "by": "operator", **call}
        for given, code in (
            ({}, "approval_forbidden"),
            ({"approval_token": TOKEN}, "unknown_agent"),
        ):
            result = await client.call_tool("decide_approval", {**decision, **given})
            assert isinstance(result.structured_content, dict)
            assert result.structured_content["error"].startswith(code)


def test_off_loopback_it_does_not_start_without_a_token(site: Site) -> None:
    done = site("serve", "--host", "0.0.0.0", "--port", 0, "--json")
    assert done.code == 2
    [problem] = done.json["problems"]
    assert problem["code"] == "CLI_NO_TOKEN" and "DCF_TOKEN" in problem["hint"]


@pytest.mark.parametrize("command", ["serve", "stub"])
def test_off_loopback_it_does_not_start_with_a_token_that_can_be_guessed(
    site: Site, command: str
) -> None:
    done = site(command, "--host", "0.0.0.0", "--port", 0, "--json", env={"DCF_TOKEN": "12345"})
    assert done.code == 2
    [problem] = done.json["problems"]
    assert "openssl rand -hex 32" in problem["hint"] and "12345" not in problem["message"]


def test_off_loopback_the_approval_token_cannot_be_guessed_either(site: Site) -> None:
    weak = {"DCF_TOKEN": TOKEN, "DCF_APPROVAL_TOKEN": "54321"}
    done = site("serve", "--host", "0.0.0.0", "--port", 0, "--json", env=weak)
    assert done.code == 2
    [problem] = done.json["problems"]
    assert (problem["code"], problem["file"]) == ("CLI_APPROVAL_TOKEN", "DCF_APPROVAL_TOKEN")


async def test_off_loopback_a_client_without_the_token_is_refused(site: Site) -> None:
    token = site.write("token.txt", TOKEN + "\n")
    url = site.serve("--host", "0.0.0.0", "--token-file", token).replace("0.0.0.0", "127.0.0.1")
    async with httpx2.AsyncClient() as http:
        for given in ({}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}):
            refused = await http.post(url, json=LIST_RUNS, headers=HEADERS | given)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"].startswith("Bearer")
            assert TOKEN not in refused.text
        health = await http.get(url.replace("/mcp", "/healthz"))
        assert health.status_code == 200
    with pytest.raises(BaseException):  # noqa: B017 - whatever a client makes of a 401
        async with Client(url) as client:
            await client.list_tools()
    bearer = httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"})
    async with bearer, Client(streamable_http_client(url, http_client=bearer)) as client:
        assert not (await client.call_tool("list_runs", {})).is_error
    site.server.terminate()
    _out, logged = site.server.communicate(timeout=15)
    assert TOKEN not in logged


async def test_on_loopback_web_pages_are_refused(site: Site) -> None:
    url = site.serve()
    async with httpx2.AsyncClient() as http:

        async def status(**more: str) -> int:
            answer = await http.post(url, json=LIST_RUNS, headers=HEADERS | more)
            return answer.status_code

        assert await status() == 200
        assert await status(host="localhost:8337", origin="http://localhost:8337") == 200
        assert await status(host="localhost:8337", origin="http://localhost:3000") == 403
        assert await status(host="evil.example") == 421
        assert await status(host="127.0.0.1.evil.example:8337") == 421
        assert await status(origin="https://evil.example") == 403
        assert await status(origin="null") == 403


async def test_names_that_the_operator_allows_may_come(site: Site) -> None:
    site.env |= {
        "DCF_MCP_ALLOWED_HOSTS": "dcf-mcp:*, tools.example",
        "DCF_MCP_ALLOWED_ORIGINS": "https://tools.example",
    }
    url = site.serve()
    async with httpx2.AsyncClient() as http:
        for headers, wanted in (
            ({"host": "dcf-mcp:8337"}, 200),
            ({"host": "tools.example", "origin": "https://tools.example"}, 200),
            ({"host": "dcf-mcp.example:8337"}, 421),
            ({"origin": "https://other.example"}, 403),
        ):
            answer = await http.post(url, json=LIST_RUNS, headers=HEADERS | headers)
            assert answer.status_code == wanted, headers


async def test_a_session_id_is_given_and_nothing_hangs_on_it(site: Site) -> None:
    url = site.serve()
    async with httpx2.AsyncClient() as http:
        opened = await http.post(url, json=INITIALIZE, headers=HEADERS)
        session = opened.headers["mcp-session-id"]
        called: dict[str, Any] = {"mcp-protocol-version": "2025-06-18"}
        for id_ in (session, "of-another-server"):
            answer = await http.post(
                url, json=LIST_RUNS, headers=HEADERS | called | {"mcp-session-id": id_}
            )
            assert answer.json()["result"]["structuredContent"]["error"] is None
        assert (await http.delete(url, headers={"mcp-session-id": session})).status_code == 200


async def test_health_says_when_redis_is_away(site: Site) -> None:
    url = site.serve().replace("/mcp", "/healthz")
    assert httpx2.get(url).json()["status"] == "ok"
    note = site.home / "redis"
    assert note.exists()
    assert site("down").code == 0
    answer = httpx2.get(url)
    assert answer.status_code == 503
    assert answer.json()["redis"] == "down"
    assert str(site.home) not in answer.text


def test_it_stops_when_it_is_told_to(site: Site) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        site.serve()
        os.kill(site.server.pid, number)
        assert site.server.wait(15) == 0
