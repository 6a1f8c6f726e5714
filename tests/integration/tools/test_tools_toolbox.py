"""Calls through the toolbox, over real connections."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from older_protocol import OldOnly
from starlette.types import ASGIApp, Receive, Scope, Send

from dcf.tools import (
    Registry,
    ServerConfig,
    Toolbox,
    ToolResult,
    ToolTimeout,
    ToolUnavailable,
    UnknownServer,
)
from dcf.tools.stub import create_stub_app

Serving = Callable[..., AbstractAsyncContextManager[str]]


def toolbox(address: str, **config: Any) -> Toolbox:
    """A toolbox with the stub's server ``web``, without retries of refused connections."""
    server = {"url": f"{address}/mcp/web", "retries": 0, **config}
    return Toolbox(Registry([ServerConfig("web", **server)]))


async def search(
    box: Toolbox, query: str, key: str = "k", *, timeout_s: float = 60, fence: int = 1
) -> ToolResult:
    return await box.call(
        "web", "search", {"query": query}, idempotency_key=key, fence=fence, timeout_s=timeout_s
    )


async def logged(address: str) -> list[dict[str, Any]]:
    async with httpx2.AsyncClient() as http:
        calls: list[dict[str, Any]] = (await http.get(f"{address}/calls")).json()["calls"]
        return calls


@pytest.fixture(params=["modern", "legacy"])
def stub_app(request: pytest.FixtureRequest, stub_config: Path) -> Callable[[], ASGIApp]:
    """Builds the stub, once as it is and once speaking only the older protocol."""
    if request.param == "modern":
        return lambda: create_stub_app(stub_config)
    return lambda: OldOnly(create_stub_app(stub_config))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_a_call_brings_data_text_and_travels_with_key_and_fence(stub: str) -> None:
    async with toolbox(stub) as box:
        result = await search(box, "y", "wf/Find/1/1/0", fence=12)
    assert result == ToolResult({"items": []}, '{"items":[]}')
    [call] = await logged(stub)
    assert (call["idempotency_key"], call["fence"]) == ("wf/Find/1/1/0", 12)


async def test_a_failing_tool_is_a_result_with_the_name_of_its_error(stub: str) -> None:
    async with toolbox(stub) as box:
        result = await search(box, "lost")
    assert (result.is_error, result.error, result.data["code"]) == (True, "NotFound", "NotFound")


async def test_the_tools_of_a_server_can_be_listed(stub: str) -> None:
    async with toolbox(stub) as box:
        [tool] = await box.list_tools("web")
    assert (tool.name, tool.description) == ("search", "Search the web.")
    assert tool.input_schema["required"] == ["query"]


async def test_an_unknown_server_is_not_called(stub: str) -> None:
    async with toolbox(stub) as box:
        with pytest.raises(UnknownServer):
            await box.call("wbe", "search", {}, idempotency_key="k", fence=1, timeout_s=1)


async def test_a_call_ends_at_its_deadline(
    stub_app: Callable[[], ASGIApp], serving: Serving
) -> None:
    async with serving(stub_app()) as address, toolbox(address) as box:
        await search(box, "x", "1")
        with pytest.raises(ToolTimeout, match=r"web:search did not answer within 0\.2 s"):
            await search(box, "hang", "2", timeout_s=0.2)
        assert not (await search(box, "x", "3")).is_error


async def test_the_deadline_covers_a_server_that_never_answers_the_opening() -> None:
    async def silent(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    box = toolbox(f"http://127.0.0.1:{port}")
    with pytest.raises(ToolTimeout):
        await search(box, "x", timeout_s=0.2)
    await box.close()
    server.close()


async def test_an_answer_cut_short_fails_its_own_call_only(stub: str, serving: Serving) -> None:
    """A proxy that breaks off in the middle of the answer to one call."""

    async def breaking(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        kept = {k.decode(): v.decode() for k, v in scope["headers"] if k != b"host"}
        async with httpx2.AsyncClient() as http:
            answer = await http.request(
                scope["method"], stub + scope["path"], content=body, headers=kept
            )
        headers = [(k.encode(), v.encode()) for k, v in answer.headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if b'"broken"' in body:
            await send({"type": "http.response.body", "body": answer.content[:9]})
            return
        await send({"type": "http.response.body", "body": answer.content})

    async with serving(breaking) as address, toolbox(address) as box:
        await search(box, "x", "1")
        slow = asyncio.create_task(search(box, "slow", "2"))
        with pytest.raises(ToolUnavailable, match="RemoteProtocolError"):
            await search(box, "broken", "3")
        assert (await slow).data == {"items": [2]}
        assert not (await search(box, "x", "4")).is_error


async def test_the_registry_lowers_the_deadline(stub: str) -> None:
    async with toolbox(stub, timeout_s=0.2) as box:
        with pytest.raises(ToolTimeout) as caught:
            await search(box, "hang", timeout_s=60)
    assert caught.value.seconds == 0.2


async def test_cancelled_callers_do_not_break_the_connection_of_the_others(
    stub_app: Callable[[], ASGIApp], serving: Serving
) -> None:
    async with serving(stub_app()) as address, toolbox(address) as box:
        surviving = asyncio.create_task(search(box, "slow", "survivor"))
        doomed = [asyncio.create_task(search(box, "hang", f"d{n}")) for n in range(20)]
        async with asyncio.timeout(60):
            while len(await logged(address)) < 21:
                await asyncio.sleep(0.01)
        connections = dict(box._connections)
        for task in doomed:
            task.cancel()
        ends = await asyncio.gather(*doomed, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ends)
        assert (await surviving).data == {"items": [2]}
        assert (await search(box, "x", "after")).data["items"] == [1]
        assert box._connections == connections


async def test_a_caller_cancelled_while_the_connection_opens_does_not_stop_the_opening(
    stub: str,
) -> None:
    async with toolbox(stub) as box:
        first = asyncio.create_task(search(box, "x", "first"))
        second = asyncio.create_task(search(box, "x", "second"))
        while not box._connections:
            await asyncio.sleep(0)
        first.cancel()
        assert not (await second).is_error


async def test_many_tasks_share_one_connection(stub: str) -> None:
    async with toolbox(stub) as box:
        results = await asyncio.gather(*(search(box, "x", f"k{n}") for n in range(60)))
        assert len({result.data["id"] for result in results}) == 60
        assert len(box._connections) == 1


async def test_a_refused_connection_names_server_and_address() -> None:
    port = free_port()
    async with toolbox(f"http://127.0.0.1:{port}") as box:
        with pytest.raises(ToolUnavailable) as caught:
            await search(box, "x")
    assert caught.value.server == "web"
    assert caught.value.url == f"http://127.0.0.1:{port}/mcp/web"
    assert "connection" in caught.value.cause.lower()


async def test_a_restarted_server_is_found_again(
    stub_app: Callable[[], ASGIApp], serving: Serving
) -> None:
    port = free_port()
    async with toolbox(f"http://127.0.0.1:{port}") as box:
        async with serving(stub_app(), port):
            assert not (await search(box, "x", "1")).is_error
        with pytest.raises(ToolUnavailable):
            await search(box, "x", "2")
        async with serving(stub_app(), port):
            assert not (await search(box, "x", "3")).is_error


async def test_a_server_that_forgot_the_session_gets_the_call_once_more_and_once_only(
    stub_config: Path, serving: Serving
) -> None:
    port = free_port()
    async with toolbox(f"http://127.0.0.1:{port}") as box:
        async with serving(OldOnly(create_stub_app(stub_config)), port):
            await search(box, "x", "1")
        async with serving(OldOnly(create_stub_app(stub_config)), port) as address:
            assert not (await search(box, "x", "2")).is_error
            assert [call["idempotency_key"] for call in await logged(address)] == ["2"]


async def test_a_server_that_goes_away_during_a_call_is_unavailable(
    stub_app: Callable[[], ASGIApp], serving: Serving
) -> None:
    async with serving(stub_app()) as address:
        box = toolbox(address)
        hanging = asyncio.create_task(search(box, "hang"))
        async with asyncio.timeout(10):
            while not await logged(address):
                await asyncio.sleep(0.01)
    with pytest.raises(ToolUnavailable):
        await hanging
    await box.close()


async def test_closing_ends_calls_under_way_and_refuses_new_ones(stub: str) -> None:
    box = toolbox(stub)
    hanging = asyncio.create_task(search(box, "hang"))
    async with asyncio.timeout(10):
        while not await logged(stub):
            await asyncio.sleep(0.01)
    await box.close()
    with pytest.raises(ToolUnavailable):
        await hanging
    with pytest.raises(ToolUnavailable, match="closed"):
        await search(box, "x")


async def test_a_token_is_sent_and_a_missing_one_is_told_by_its_status(
    stub_config: Path, serving: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(create_stub_app(stub_config, token="t0ken-s3cret")) as address:
        headers = {"Authorization": "Bearer t0ken-s3cret"}
        async with toolbox(address, headers=headers) as box:
            assert not (await search(box, "x")).is_error
        async with toolbox(address, headers={"Authorization": "Bearer wr0ng-s3cret"}) as box:
            with pytest.raises(ToolUnavailable, match="HTTP 401 Unauthorized") as caught:
                await search(box, "x")
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in caplog.text
