"""Somebody who uses ``dcf memory``: in this process, with a home, a project and a clock of their
own. A command is a few hundredths of a second, which as a process it is not."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
from commands import python
from dcf_user import Done

from dcf.cli.app import build_app
from dcf.cli.entry import run_command

# Commands are imported when they are used. What is imported first while ``answers`` stands in for
# the question whether there is a terminal would have that answer for ever.
from dcf.cli.memory import rekey as _rekey  # noqa: F401


@cache
def _commands(first: str) -> Any:
    """The commands of a family, put together once: that takes longer than most of them do."""
    return typer.main.get_command(build_app(first))


class MemoryUser:
    """Runs ``dcf memory`` in ``folder``."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder / "tea-house"
        self.home = folder / "home"
        self.patch = patch
        self.children: list[subprocess.Popen[str]] = []
        self._capsys = capsys
        self.folder.mkdir()
        patch.setattr("dcf.cli.app.build_app", _commands)
        patch.chdir(self.folder)
        patch.setenv("DCF_HOME", str(self.home))
        patch.setenv("DCF_EMBEDDER", "none")
        for name in ("DCF_MEMORY", "DCF_MEMORY_KEY", "DCF_MEMORY_NEW_KEY", "DCF_TEMPLATES"):
            patch.delenv(name, raising=False)

    @property
    def file(self) -> Path:
        """The memory."""
        return self.home / "memory.db"

    def __call__(self, *arguments: object) -> Done:
        """Run a command to its end."""
        code = run_command(["memory", *map(str, arguments)])
        said = self._capsys.readouterr()
        return Done(code, said.out, said.err)

    def start(self, *arguments: object, terminal: int = subprocess.PIPE) -> subprocess.Popen[str]:
        """Start a command as a process, and go on; at a ``terminal``, if there is one."""
        at_terminal = terminal != subprocess.PIPE
        child = subprocess.Popen(
            [python(), "-m", "dcf.cli", "memory", *map(str, arguments)],
            stdin=terminal if at_terminal else subprocess.DEVNULL,
            stdout=terminal,
            stderr=terminal,
            text=True,
        )
        self.children.append(child)
        return child

    def ok(self, *arguments: object) -> dict[str, Any]:
        """The JSON document of a command that must succeed."""
        done = self(*arguments, "--json")
        assert done.code == 0, done.err
        document: dict[str, Any] = json.loads(done.out)
        assert document["error"] is None
        return document

    def refused(self, *arguments: object) -> tuple[int, dict[str, Any]]:
        """The exit code and the JSON document of a command that must not succeed."""
        done = self(*arguments, "--json")
        assert done.code != 0
        assert "Traceback" not in done.err
        document: dict[str, Any] = json.loads(done.out)
        assert document["error"]["message"]
        return done.code, document

    def text(self, agent: str, label: str = "human") -> str:
        """What a block says."""
        return str(self.ok("show", agent, label)["block"]["value"])

    def last_event(self) -> int:
        """The number of the newest change."""
        return int(self.ok("history", "--limit", 1)["events"][0]["seq"])

    def answers(self, *said: str) -> None:
        """From now on somebody sits at a terminal and says this, one thing after the other."""
        waiting = list(said)
        self.patch.setattr("dcf.cli.asking.at_terminal", lambda _screen: True)
        self.patch.setattr("builtins.input", lambda _question: waiting.pop(0))
