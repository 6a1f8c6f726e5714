"""The server that runs commands, attacked: it is a real process, and so is what it starts."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dcf.problem import Problem
from dcf.tools import Registry, Toolbox, ToolResult, ToolTimeout
from dcf.tools.commands.program import NoProgram, find_program
from dcf.tools.commands.server import CommandRunner
from dcf.tools.server_config import build_server

PERMITTED = ("printf", "env", "sleep", "python3", "pwd", "true", "ls", "cat")


class Commands:
    """A toolbox with the server ``commands`` behind it."""

    def __init__(self, toolbox: Toolbox, folder: Path) -> None:
        self.toolbox = toolbox
        self.folder = folder

    async def __call__(
        self, *argv: str, permitted: tuple[str, ...] | None = PERMITTED, **more: Any
    ) -> ToolResult:
        limit = more.pop("limit", 20.0)
        return await self.toolbox.call(
            "commands",
            "run_command",
            {"argv": list(argv), **more},
            idempotency_key="wf/Run/1/1/0",
            fence=1,
            timeout_s=limit,
            programs=permitted,
        )


@asynccontextmanager
async def commands(
    folder: Path, path: str = os.environ["PATH"], **environment: str
) -> AsyncIterator[Commands]:
    problems: list[Problem] = []
    workspace = folder / "workspace"
    config = build_server(
        "commands",
        {"transport": "commands", "environment": environment},
        allow_stdio=True,
        problems=problems,
        secrets=environment,
        inherited={"PATH": path, "HOME": "/nowhere", "LANG": "C.UTF-8"},
        workspace=str(workspace),
    )
    assert config is not None and problems == []
    async with Toolbox(Registry([config])) as toolbox:
        yield Commands(toolbox, workspace)


def alive(marker: str) -> list[int]:
    """The processes that have ``marker`` among their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


async def test_a_program_gets_its_arguments_as_they_are_and_nothing_of_ours(tmp_path: Path) -> None:
    os.environ["STRANGE_SECRET"] = "of the worker"
    try:
        async with commands(tmp_path, API_TOKEN="tell-nobody-1234") as run:
            # What came by another way than the gate is told of no permission.
            assert (await run("printf", "x", permitted=None)).error == "CommandRefused"
            attack = ["; rm -rf /", "$(id)", "`id`", "a b", "*", "~", "| x", "", "--", "%s"]
            said = await run("printf", "[%s]", *attack)
            assert said.data["stdout"] == "".join(f"[{one}]" for one in attack)
            assert (await run("pwd")).data["stdout"] == f"{run.folder}\n"
            seen = (await run("env")).data["stdout"]
            names = {line.partition("=")[0] for line in seen.splitlines()}
            assert names == {"PATH", "HOME", "LANG", "API_TOKEN"}
            assert "API_TOKEN=[secret API_TOKEN]" in seen
            failed = await run("python3", "-c", "import sys; sys.exit('no luck: tell-nobody-1234')")
            assert (failed.is_error, failed.error) == (True, "CommandFailed")
            assert failed.text == "python3 ended with exit code 1: no luck: [secret API_TOKEN]"
    finally:
        del os.environ["STRANGE_SECRET"]


@pytest.mark.parametrize(
    ("argv", "permitted", "error"),
    [
        (["rm", "x"], PERMITTED, "CommandRefused"),
        (["printf", "x"], (), "CommandRefused"),
        (["/usr/bin/printf", "x"], PERMITTED, "CommandRefused"),
        (["../printf", "x"], ("../printf",), "CommandNotFound"),
        (["/usr/bin/../bin/env"], ("/usr/bin/../bin/env",), "CommandNotFound"),
        (["no-such-program"], ("no-such-program",), "CommandNotFound"),
        (["printf", "a\nb"], PERMITTED, "CommandRefused"),
        (["printf", "a\0b"], PERMITTED, "CommandRefused"),
        (["sh", "-c", "id"], ("sh",), "CommandNotFound"),
        ([], PERMITTED, "CommandRefused"),
    ],
)
async def test_what_is_not_permitted_by_name_starts_nothing(
    tmp_path: Path, argv: list[str], permitted: tuple[str, ...], error: str
) -> None:
    runner = CommandRunner(tmp_path, {"PATH": os.environ["PATH"]})
    done = await runner.run({"argv": argv}, permitted)
    assert done.is_error
    assert done.structured_content["code"] == error


def test_no_program_is_taken_from_where_others_may_put_one(tmp_path: Path) -> None:
    open_to_all, ours = tmp_path / "open", tmp_path / "ours"
    workspace = tmp_path / "workspace"
    for folder in (open_to_all, ours, workspace):
        folder.mkdir()
        (folder / f"tool-{folder.name}").write_text("#!/usr/bin/env python3\nprint('bad')\n")
        (folder / f"tool-{folder.name}").chmod(0o755)
    open_to_all.chmod(0o777)
    (ours / "to-shell").symlink_to("/bin/sh")
    (ours / "to-workspace").symlink_to(workspace / "tool-workspace")
    names = ("tool-open", "tool-workspace", "to-shell", "to-workspace", "tool-ours")
    path = f":.:{open_to_all}:{workspace}:{ours}:{os.environ['PATH']}"
    for name in names[:-1]:
        with pytest.raises(NoProgram):
            find_program(name, path, workspace)
    assert find_program("tool-ours", path, workspace) == str(ours / "tool-ours")


async def test_a_flood_is_cut_time_ends_and_nothing_is_left_behind(tmp_path: Path) -> None:
    flood = (
        "import sys; [(sys.stdout.write('o' * 9999), sys.stderr.write('e' * 9999))"
        " for _ in range(99)]; sys.stderr.write('end')"
    )
    daemon = (
        "import os; os.fork() or (os.setsid(),"
        " os.fork() or os.execlp('sleep', 'sleep', '88.5'), os._exit(0))"
    )
    async with commands(tmp_path) as run:
        done = await run("python3", "-c", flood)
        assert (done.data["stdout"], done.data["truncated"]) == ("o" * 65536, True)
        assert (len(done.data["stderr"]), done.data["stderr"][-4:]) == (65536, "eend")
        late = await run("sleep", "77.25", timeout_s=0.3)
        assert (late.error, late.text) == ("CommandTimeout", "sleep was ended after 0.3 s")
        assert alive("77.25") == []
        assert (await run("python3", "-c", daemon)).data["exit_code"] == 0
        assert alive("88.5") == []
        with pytest.raises(ToolTimeout):
            await run("sleep", "99.125", limit=0.5)
        # The server is told, and does not wait for its own limit.
        deadline = time.monotonic() + 5
        while alive("99.125") and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        assert alive("99.125") == []
