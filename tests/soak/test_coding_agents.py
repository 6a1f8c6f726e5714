"""Coding agents that people use, each with the configuration of its page, in a project of its own:
the tools of the MCP server are called, and the client runs the hooks. Only the model is scripted.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.doc_snippets import REPOSITORY, blocks_of
from campaigns import PRODUCT
from coding_clients import CLIENTS
from coding_model import results_in, serving_coding_model
from packages import Packages, packages

_PAGE = "docs/how-to/coding-agents.md"
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.soak(
        _PAGE,
        "dcf/cli/retrieval/hooks.py",
        "tests/integration/agents/wire_model.py",
        "tests/soak/coding_clients.py",
        "tests/soak/coding_model.py",
        "tests/soak/packages.py",
        product=PRODUCT,
    ),
]

KNOWN = "The gateway sends no card for guests."
DECIDED = "Decision: a missing card is refused."
SUMMARY = "FAILED test_pay.py::test_refused"
_PROGRAMS = Path(sys.executable).parent


class Shop:
    """A project with a test that fails, and somebody who works there with a home of their own."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "shop", folder / "home"
        self.home.mkdir()
        (self.root / ".git").mkdir(parents=True)
        (self.root / ".venv/bin").mkdir(parents=True)
        (self.root / ".venv/bin/dcf").symlink_to(_PROGRAMS / "dcf")
        test = "def test_refused():\n    assert None, 'the card is missing'\n"
        (self.root / "test_pay.py").write_text(test, encoding="utf-8")
        # Whoever asks for something outside this machine asks a proxy that is not there.
        nowhere = "http://127.0.0.1:1"
        self.env = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([str(_PROGRAMS), os.defpath]),
            "LANG": "C.UTF-8",
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1",
        }

    def configure(self, page: Path) -> None:
        """Write the files of ``page``, those of the project and those of the home."""
        for block in blocks_of(page):
            if name := block.words.get("file"):
                in_home = name.startswith("~/")
                file = self.home / name[2:] if in_home else self.root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text.replace("/srv/shop", str(self.root)), encoding="utf-8")

    def dcf(self, *arguments: str) -> str:
        """What the command prints."""
        command = [self.root / ".venv/bin/dcf", *arguments]
        done = subprocess.run(
            command, env=self.env, cwd=self.root, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def logged(self) -> list[dict[str, Any]]:
        found = json.loads(self.dcf("retrieval", "context", "card missing pytest", "--json"))
        return [one for one in found["context"] if one["type"] == "memory"]


@pytest.fixture(scope="module")
def place() -> Iterator[Packages]:
    with packages() as found:
        yield found


@pytest.fixture
def shop(short_dir: Path) -> Iterator[Shop]:
    made = Shop(short_dir)
    yield made
    made.dcf("down")


@pytest.mark.parametrize("name", CLIENTS)
async def test_a_client_uses_the_memory_and_runs_the_hooks(
    name: str, place: Packages, shop: Shop
) -> None:
    client = CLIENTS[name]
    command = await asyncio.to_thread(client.install, place)
    shop.configure(REPOSITORY / _PAGE)
    shop.dcf("retrieval", "log", KNOWN)
    tool, argument = client.shell
    tests = f"{sys.executable} -m pytest -q test_pay.py"
    plan: list[tuple[str, dict[str, Any]]] = [
        ("augmented_context", {"query": "which guests have no card?"}),
        ("log_artifact", {"text": DECIDED}),
        (tool, {argument: tests, "description": "Run the tests"}),
    ]
    async with serving_coding_model(plan) as model:
        arguments, env = client.told(model.url, shop.home)
        child = await asyncio.create_subprocess_exec(
            *(*command, *arguments, "Why has the gateway no card?"),
            env=shop.env | env,
            cwd=shop.root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await asyncio.wait_for(child.communicate(), 150)
    assert child.returncode == 0, said.decode()
    assert len(model.sessions) == len(plan) + 1, said.decode()
    first, *_, last = model.sessions
    # The hook at the prompt: before the first answer.
    asked = json.dumps(first)
    assert "What DCF has about this" in asked and KNOWN in asked, said.decode()
    found, logged, tested = results_in(last)
    assert KNOWN in found and "dcf://memory/" in found
    assert "dcf://memory/" in logged
    assert SUMMARY in tested
    # The hook after the command: nobody has called a tool for that.
    items = shop.logged()
    assert DECIDED in [one["text"] for one in items]
    [failure] = [one for one in items if one["tags"] == ["error", "runlog"]]
    assert failure["text"].startswith(f"{tests} failed\n") and SUMMARY in failure["text"]
    assert failure["source"] == "pytest"
