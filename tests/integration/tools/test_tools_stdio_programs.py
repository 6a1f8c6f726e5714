"""Tool servers that are programs: what they get, what they leave, how they end."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import python

from dcf.tools import (
    Registry,
    ServerConfig,
    Toolbox,
    ToolResult,
    ToolResultTooLarge,
    ToolTimeout,
    ToolUnavailable,
)

SERVER = """
import asyncio, os, sys, time
from mcp.server import MCPServer
server = MCPServer("local")
print("starting with", os.environ.get("TOKEN"), file=sys.stderr, flush=True)
@server.tool()
def environment() -> dict[str, str]:
    return dict(os.environ)
@server.tool()
def process() -> list[int]:
    return [os.getpid(), os.getppid()]
@server.tool(structured_output=False)
def large(megabytes: int) -> str:
    return "x" * (megabytes * 1000 * 1000)
@server.tool()
async def hang(mark: str) -> str:
    try:
        await asyncio.sleep(600)
    finally:
        open(mark, "w").write("cancelled")
@server.tool()
def echo(text: str) -> str:
    return text
@server.tool()
def die() -> str:
    print("out of ink", file=sys.stderr, flush=True)
    os._exit(3)
server.run("stdio")
"""


def program(code: str = SERVER, *, command: str = sys.executable, **config: Any) -> Toolbox:
    config = {"args": ("-c", code), "retries": 0, **config}
    server = ServerConfig("local", transport="stdio", command=command, **config)
    return Toolbox(Registry([server]))


async def call(box: Toolbox, tool: str, timeout_s: float = 30, **arguments: Any) -> ToolResult:
    return await box.call(
        "local", tool, arguments, idempotency_key="k", fence=1, timeout_s=timeout_s
    )


async def test_a_program_gets_its_own_environment_and_nothing_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "ours")
    async with program(environment={"PATH": os.environ["PATH"], "A": "b"}) as box:
        found = (await call(box, "environment")).data
    assert {name: found[name] for name in ("PATH", "A")} == {"PATH": os.environ["PATH"], "A": "b"}
    assert set(found) <= {"PATH", "A", "LC_CTYPE", "PWD", "SHLVL", "_"}


async def test_what_a_program_writes_to_standard_error_is_logged_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = {"TOKEN": "s3cret-value"}
    async with program(environment=secret, secrets=secret, command=python()) as box:
        found = (await call(box, "environment")).data
        assert found["TOKEN"] == "[secret TOKEN]"
    assert "local: starting with [secret TOKEN]" in caplog.messages
    assert "s3cret-value" not in caplog.text


async def test_a_program_ends_with_the_toolbox() -> None:
    async with program() as box:
        [pid, parent] = (await call(box, "process")).data
        assert parent == os.getpid()
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return
        await asyncio.sleep(0.05)
    pytest.fail("the program is still there")


STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("child", child.pid, file=sys.stderr, flush=True)
while True:
    time.sleep(1)
"""


async def test_a_program_that_ignores_everything_is_killed_with_its_children(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with program(STUBBORN) as box:
        with pytest.raises(ToolTimeout):
            await call(box, "any", timeout_s=2)
    [line] = [one.getMessage() for one in caplog.records if one.name == "dcf.tools.stdio_program"]
    child = line.split()[-1]
    assert not [one.getMessage() for one in caplog.records if one.name == "asyncio"]
    await asyncio.sleep(0.2)
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


async def test_a_program_that_dies_is_unavailable_with_its_code_and_last_words() -> None:
    async with program(command=python()) as box:
        await call(box, "echo", text="x")
        with pytest.raises(ToolUnavailable, match=r"ended with code 3: .*out of ink") as caught:
            await call(box, "die")
        assert caught.value.sent


async def test_a_program_that_cannot_start_says_why() -> None:
    async with program("import no_such_module_here") as box:
        with pytest.raises(ToolUnavailable, match="no_such_module_here") as caught:
            await call(box, "echo", text="x")
    assert not caught.value.sent


async def test_an_answer_beyond_the_limit_fails_its_own_call_only() -> None:
    async with program(command=python()) as box:
        await call(box, "echo", text="x")
        others = [asyncio.create_task(call(box, "echo", text=str(n))) for n in range(3)]
        with pytest.raises(ToolResultTooLarge):
            await call(box, "large", timeout_s=60, megabytes=20)
        assert [(await other).data for other in others] == ["0", "1", "2"]
        assert len((await call(box, "large", megabytes=2)).text) == 2_000_000


async def test_a_call_that_is_given_up_is_cancelled_in_the_program(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    async with program(command=python()) as box:
        await call(box, "echo", text="x")
        with pytest.raises(ToolTimeout):
            await call(box, "hang", timeout_s=0.5, mark=str(mark))
        async with asyncio.timeout(10):
            while not mark.exists():
                await asyncio.sleep(0.01)
        assert (await call(box, "echo", text="after")).data == "after"


async def test_noise_on_standard_output_is_no_end() -> None:
    noisy = SERVER.replace("server.run", "print('hello, I am a banner', flush=True)\nserver.run")
    async with program(noisy, command=python()) as box:
        assert (await call(box, "echo", text="x")).data == "x"
