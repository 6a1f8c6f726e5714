"""``dcf health``: exit code 0 or 1, and why."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from dcf.cli.health import graph_server_health, is_of, server_health
from dcf.cli.health_overview import workers_part
from dcf.cli.trouble import NotSo

WELL = json.dumps({"status": "ok", "error": None})


class _Answering(BaseHTTPRequestHandler):
    answer = (200, WELL)
    paths = ("/healthz",)

    def do_GET(self) -> None:
        status, body = self.answer
        if self.path not in self.paths:
            status, body = 404, "Not Found"
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_parts: object) -> None:
        """Nothing: the tests' output is theirs."""


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), _Answering)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


async def test_a_server_that_says_so_is_healthy(port: int) -> None:
    answer = await server_health("the stub server", "127.0.0.1", port)
    assert (answer.status, answer.exit_code) == ("healthy", 0)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (200, '{"status": "degraded", "error": "the file is broken"}', "the file is broken"),
        (503, '{"status": "degraded", "error": "redis: it does not answer"}', "does not answer"),
        (503, WELL, "the stub server is ok"),
        (200, "<html>", r"is not the stub server \(HTTP 200\)"),
        (404, "[]", r"is not the stub server \(HTTP 404\)"),
        (200, "{}", "the stub server is None"),
    ],
)
async def test_any_other_answer_is_not(
    port: int, monkeypatch: pytest.MonkeyPatch, status: int, body: str, why: str
) -> None:
    monkeypatch.setattr(_Answering, "answer", (status, body))
    with pytest.raises(NotSo, match=why):
        await server_health("the stub server", "127.0.0.1", port)


async def test_the_graphs_server_speaks_as_graphitis_does(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotSo, match=r"is not the graph's MCP server \(HTTP 404\)"):
        await graph_server_health("127.0.0.1", port)
    monkeypatch.setattr(_Answering, "paths", ("/health",))
    monkeypatch.setattr(_Answering, "answer", (200, '{"status": "healthy"}'))
    answer = await graph_server_health("127.0.0.1", port)
    assert (answer.status, answer.fields["url"]) == ("healthy", f"http://127.0.0.1:{port}/health")
    unwell = '{"status": "unhealthy", "error": "graph: it does not answer"}'
    monkeypatch.setattr(_Answering, "answer", (503, unwell))
    with pytest.raises(NotSo, match="is unhealthy: graph: it does not answer"):
        await graph_server_health("127.0.0.1", port)


async def test_silence_is_not_either(port: int) -> None:
    with pytest.raises(NotSo, match=r"does not answer at http://\[::1\]:"):
        await server_health("the stub server", "::1", port)


async def test_of_a_server_that_is_silent_it_is_said_what_starts_it(port: int) -> None:
    with pytest.raises(NotSo) as caught:
        await server_health("the retrieval service", "::1", port, start="dcf retrieval serve")
    assert caught.value.hint == (
        "`dcf retrieval serve` starts it; --host and --port say where it is asked"
    )


HOST = "box"


@pytest.mark.parametrize(
    ("worker", "is_ours"),
    [
        ("box-4711-0a1b", True),  # as `dcf worker` names itself
        ("worker-1-dbd8", True),  # as `dcf up` named it in this home
        ("worker-2-ffff", False),  # of another home
        ("box-2-4711-0a1b", False),  # of the host box-2
        ("nightly", False),  # a name that somebody chose
    ],
)
def test_workers_of_this_machine_are_those_it_named(worker: str, is_ours: bool) -> None:
    assert is_of(worker, HOST, {"worker-1-dbd8"}) is is_ours


@pytest.mark.parametrize(
    ("signs", "started", "status"),
    [
        ({"w": 1.0}, [], "healthy"),
        ({"w": 1.0, "gone": 900.0}, [], "healthy"),  # one that died once is no illness
        ({"w": 900.0}, [], "not running"),
        ({}, [], "not running"),
        ({"w": 1.0, "mine": 60.0}, ["mine"], "unhealthy"),  # its process is there, and hangs
    ],
)
def test_the_overview_tells_who_hangs_from_who_is_gone(
    signs: dict[str, float], started: list[str], status: str
) -> None:
    assert workers_part({"default": signs}, started, 15.0, {}).status == status


def test_the_overview_names_what_hangs_since_when_and_over_what() -> None:
    signs = {"w1": 2.0, "w2": 61.2}
    part = workers_part({"default": signs}, ["w1", "w2", "w3"], 15.0, {"w2": ["A of run-1"]})
    assert part.found.startswith("no sign of life from w2 since 61 s, and holds A of run-1 (")
    assert part.found.endswith("; w3")


def test_the_overview_tells_the_pools_apart() -> None:
    signs = {"default": {"w1": 2.0, "w2": 1.0}, "empty": {}, "night": {"w3": 3.0, "w4": 900.0}}
    part = workers_part(signs, [], 15.0, {})
    assert part.found == "2 read the pool default: w1, w2; 1 reads the pool night: w3"
    part = workers_part({"default": {}, "night": {"w4": 900.0}}, [], 15.0, {})
    assert (part.status, part.found) == ("not running", "none reads the pools default, night")
    part = workers_part(
        {"default": {"w1": 2.0}, "night": {"w4": 60.0}}, [], 15.0, {"w4": ["A of r"]}
    )
    assert part.status == "unhealthy"
    assert part.found.startswith("no sign of life from w4 since 60 s, and holds A of r (")
