"""A user at the command line: real processes, a home of their own."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from commands import python, run_dcf

ROOT = Path(__file__).parents[3]
_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        document: dict[str, Any] = json.loads(self.out)
        return document


class Dcf:
    """Runs ``dcf`` in ``folder`` with a home below it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        kept = {key: value for key, value in os.environ.items() if not key.startswith("DCF_")}
        self.env = kept | {
            "DCF_HOME": str(self.home),
            "DCF_GENERATED": str(ROOT / "generated"),
        }
        self.children: list[subprocess.Popen[str]] = []

    @property
    def stub_url(self) -> str:
        """Where the stub of this home listens, as its note says."""
        [note] = (self.home / "run").glob("stub-*.json")
        return str(json.loads(note.read_text())["details"]["url"])

    def __call__(self, *arguments: object, env: dict[str, str] | None = None) -> Done:
        """Run a command to its end."""
        done = run_dcf(
            [*map(str, arguments)],
            cwd=self.folder,
            env=self.env | (env or {}),
            timeout=_PATIENCE_S,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Start a command and go on."""
        child = subprocess.Popen(
            self._command(arguments),
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.children.append(child)
        return child

    def worker(self, *arguments: object) -> subprocess.Popen[str]:
        """A worker that is ready."""
        child = self.start("worker", *arguments)
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["event"] == "ready"
        return child

    def write(self, name: str, value: Any) -> Path:
        """A file in the folder; anything but text as JSON."""
        file = self.folder / name
        file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return file

    def keys(self) -> list[str]:
        """All keys in this home's Redis, which is started for that."""
        assert self("up").code == 0
        url = f"unix://{self.home}/redis/redis.sock"
        with redis.Redis.from_url(url, decode_responses=True) as client:
            return sorted(client.keys("*wf:*"))

    def _command(self, arguments: tuple[object, ...]) -> list[str]:
        return [python(), "-m", "dcf.cli", *map(str, arguments)]


def until(true: Callable[[], Any], what: str) -> Any:
    """The first true answer; fails after a minute."""
    ends = time.monotonic() + _PATIENCE_S
    while time.monotonic() < ends:
        answer = true()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not within {_PATIENCE_S:g} s: {what}")
