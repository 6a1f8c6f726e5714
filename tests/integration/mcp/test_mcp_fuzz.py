"""A thousand calls that nobody should make: always an envelope, never a crash, never a hang."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from campaigns import campaign
from integration.mcp.platforms import Desk, desk_on
from integration.tools.conftest import serving_app
from jsonschema import Draft202012Validator

from dcf.mcp import load_catalogue
from dcf.mcp.http_app import create_app
from dcf.tools.serving import Guard

CALLS = 1_200
OVER_HTTP = 120
# No call may take longer; some wait for tools that are not there.
LONGEST_S = 20.0


def deep(levels: int) -> Any:
    value: Any = None
    for number in range(levels):
        value = [value] if number % 2 else {"a": value}
    return value


def strange(rng: random.Random) -> Any:
    """A value that no parameter wants, or that one might."""
    return rng.choice(
        [
            None, True, -1, 0, 2**70, 1.5, 1e308, float("nan"), float("inf"), "", " ", "null",
            "[]", "{}", "{", "[1,", '{"a": NaN}', "\x00", "a\x00b", "\ud800", "\udfff\ud800",
            "🧨" * 50, "é" * 1000, "x" * 200_000, "../../etc/passwd", "/etc/passwd", "C:\\x",
            "file:///etc/passwd", "skill://nope@9.9.9", "__proto__", "$..*", "$", "cp:wf:x:meta",
            "*", "%00", "a:b:c", "-", "true", "1e999", "9" * 5000, "'; DROP TABLE x; --", "${HOME}",
            "{{ x }}", "```json\n{}\n```", "[" * 500 + "]" * 500, json.dumps(deep(90)), [], [None],
            ["a"] * 1000, {}, {"a": 1}, {"\ud800": 1}, deep(80), deep(300), {"$json": "1"},
            {"$blob": "x", "size": 1}, {"ok": 1}, '{"ok": true}', '{"StartAt": "A", "States": {}}',
            "r", "A", "me", "done", b"x".hex(),
        ]
    )  # fmt: skip


def arguments(rng: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments for a tool: all of them strange and some missing, or all usual but one."""
    names = list(schema["properties"])
    given: dict[str, Any] = {}
    if names and rng.random() < 0.6:
        wanted = [*schema.get("required", ()), *(name for name in names if rng.random() < 0.2)]
        given = {name: USUAL.get(name, "1") for name in wanted}
        given[rng.choice(names)] = strange(rng)
    else:
        given = {name: strange(rng) for name in names if rng.random() < 0.7}
    if rng.random() < 0.1:
        given[rng.choice(["redis_url", "platform", "", "x" * 300, "\ud83d"])] = strange(rng)
    return given


USUAL: dict[str, Any] = {
    "workflow_id": "r",
    "state": "A",
    "owner_agent_id": "me",
    "agent_id": "me",
    "lease_token": "x" * 32,
    "path": "notes.txt",
    "redis_key": "doc:a",
    "workflow_json": '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}',
    "content": "text",
    "arguments_json": "{}",
    "value_json": "1",
    "session_id": "s1",
    "conductor_id": "me",
    "companion_id": "companion-a",
    "task_id": "t",
    "task_description": "do it",
    "message": "what is going on?",
    "timeout_s": 1,
    "limit": 3,
}


CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.]*(: |$)")
"""How every error begins: a code that programs can match."""


def problems_of(answer: Any, schema: dict[str, Any]) -> list[str]:
    """What is wrong with an answer."""
    if not isinstance(answer, dict) or not {"status", "error"} <= answer.keys():
        return [f"no envelope: {answer!r:.200}"]
    found = [one.message[:200] for one in Draft202012Validator(schema).iter_errors(answer)]
    if answer["error"] is not None and not isinstance(answer["error"], str):
        found.append(f"error is {answer['error']!r:.100}")
    elif answer["error"] is not None and not CODE.match(answer["error"]):
        found.append(f"error without a code: {answer['error']!r:.100}")
    json.dumps(answer, allow_nan=False).encode()
    return found


async def prepared(desk: Desk) -> None:
    flow = {"StartAt": "A", "States": {"A": {"Type": "Task", "AgentBinding": {}, "End": True}}}
    await desk.good("create_workflow_control_plane", workflow_json=json.dumps(flow), run_id="r")
    of_me = {"session_id": "s1", "conductor_id": "me"}
    await desk.good("create_session_context", **of_me, objective="help")
    await desk.good("create_companion", **of_me, companion_name="a", external=True)
    await desk.receive("companion-a")
    await desk.good("delegate_task", **of_me, task_description="do it", task_id="t")


@pytest.mark.timeout(300)
@campaign(shares=20)
async def test_a_thousand_strange_calls_get_an_envelope(
    share: int, redis_url: str, tmp_path: Path
) -> None:
    rng = random.Random(1 + share)
    tools = list(load_catalogue().tools().values())
    wrong: list[str] = []
    async with desk_on(redis_url, tmp_path) as desk:
        await prepared(desk)
        for number in range(CALLS):
            tool = tools[number % len(tools)]
            given = arguments(rng, tool.input_schema)
            began = time.monotonic()
            answer = await desk.call(tool.name, **_keywords(given))
            took = time.monotonic() - began
            found = problems_of(answer, tool.output_schema)
            if str(answer.get("error")).startswith("internal_error"):
                found.append("a defect")
            if took > LONGEST_S:
                found.append(f"{took:.1f} s")
            wrong += [f"{tool.name}({given!r:.300}): {one}" for one in found]
        # And it still works.
        await desk.good("list_runs")
    assert not wrong, "\n".join(wrong[:20])


def _keywords(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in ("name", "self")}


@pytest.mark.timeout(300)
@campaign(shares=40)
async def test_strange_calls_over_http_get_an_answer_of_the_protocol(
    share: int, redis_url: str, tmp_path: Path
) -> None:
    import httpx2

    rng = random.Random(2 + share)
    tools = list(load_catalogue().tools().values())
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2025-06-18",
    }
    async with desk_on(redis_url, tmp_path) as desk:
        await prepared(desk)
        app = create_app(desk.platform, Guard())
        async with serving_app(app) as url, httpx2.AsyncClient(timeout=LONGEST_S) as http:
            for number in range(OVER_HTTP):
                tool = tools[(share * OVER_HTTP + number) % len(tools)]
                params = {"name": tool.name, "arguments": arguments(rng, tool.input_schema)}
                call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
                # As other clients may write it: escapes of half pairs, NaN and all.
                body = json.dumps(call)
                answer = await http.post(f"{url}/mcp", content=body, headers=headers)
                assert answer.status_code in (200, 400), (body[:300], answer.text[:300])
                told = answer.json()
                assert "error" in told or told["result"]["structuredContent"].keys() >= {
                    "status",
                    "error",
                }
            for body in ("", "{", "[]", "null", '"x"', "[" * 10_000, "\x00", '{"jsonrpc": "2.0"}'):
                answer = await http.post(f"{url}/mcp", content=body, headers=headers)
                assert 400 <= answer.status_code < 500, (body[:50], answer.status_code)
            huge = '{"a": "' + "x" * 21_000_000 + '"}'
            assert (await http.post(f"{url}/mcp", content=huge, headers=headers)).status_code == 413
            assert (await http.get(f"{url}/healthz")).json()["status"] == "ok"
