"""The stub as a process: how it starts, refuses to start, and ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import python
from mcp import Client


def command(config: Path, *options: str) -> list[str]:
    return [python(), "-m", "dcf.tools.stub", "--config", str(config), *options]


def environment(**changes: str) -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if k != "DCF_TOKEN"}, **changes}


@contextmanager
def running(config: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    process = subprocess.Popen(
        command(config, "--port", "0", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def refused(config: Path, *options: str, **env: str) -> str:
    """What the stub says when it does not start; it must end with 2."""
    run = subprocess.run(
        command(config, *options), capture_output=True, text=True, env=environment(**env)
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert "Traceback" not in run.stderr
    return run.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_announces_its_address_and_ends_with_calls_open(
    stub_config: Path, number: signal.Signals
) -> None:
    with running(stub_config) as (process, ready):
        assert ready["event"] == "ready"
        assert ready["url"] == f"http://127.0.0.1:{ready['port']}"
        async with (
            Client(f"{ready['url']}/mcp/web") as new,
            Client(f"{ready['url']}/mcp/web", mode="legacy") as old,
        ):
            await new.call_tool("search", {"query": "x"})
            hanging = [
                asyncio.create_task(client.call_tool("search", {"query": "hang"}))
                for client in (new, old)
            ]
            async with asyncio.timeout(5):
                while await calls_seen(ready["url"]) < 3:
                    await asyncio.sleep(0.01)
            process.send_signal(number)
            # Soon: it does not wait for calls that never answer.
            code = await asyncio.to_thread(process.wait, 20)
            assert code == 0
            for call in hanging:
                call.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


async def calls_seen(address: str) -> int:
    import httpx2

    async with httpx2.AsyncClient() as http:
        return len((await http.get(f"{address}/calls")).json()["calls"])


def test_the_same_seed_gives_the_same_answers_in_every_process(stub_config: Path) -> None:
    async def answer(address: str) -> Any:
        async with Client(f"{address}/mcp/web") as client:
            meta: Any = {"dcf/idempotency_key": "k"}
            return (await client.call_tool("search", {"query": "x"}, meta=meta)).structured_content

    answers = []
    for seed in ("3", "3", "4"):
        with running(stub_config, "--seed", seed) as (_process, ready):
            answers.append(asyncio.run(answer(ready["url"])))
    assert answers[0] == answers[1] != answers[2]


def test_a_port_in_use_is_told_in_one_line(stub_config: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        message = refused(stub_config, "--port", port)
    assert f"127.0.0.1:{port}" in message
    assert "in use" in message


def test_a_missing_configuration_is_named(tmp_path: Path) -> None:
    assert "nowhere.json" in refused(tmp_path / "nowhere.json", "--port", "0")


def test_off_loopback_it_wants_a_token(stub_config: Path) -> None:
    assert "DCF_TOKEN" in refused(stub_config, "--host", "0.0.0.0", "--port", "0")
    assert "DCF_TOKEN" in refused(stub_config, "--host", "0.0.0.0", "--port", "0", DCF_TOKEN="")
