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
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from acceptance.doc_snippets import REPOSITORY, blocks_of
from campaigns import PRODUCT
from coding_clients import CLIENTS, CodingClient
from coding_model import Plan, results_in, serving_coding_model
from integration.agents.wire_model import Body
from packages import Packages, packages

_PAGES = "docs/how-to/coding-agents"
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.soak(
        _PAGES,
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
TOOLS: Plan = [
    ("augmented_context", {"query": "which guests have no card?"}),
    ("log_artifact", {"text": DECIDED}),
]
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

    def configure(self, page: Path, word: str, **replaced: str) -> None:
        """Write the files that ``page`` names by ``word``, those of the home too."""
        for block in blocks_of(page):
            if name := block.words.get(word):
                file = self.home / name[2:] if name.startswith("~/") else self.root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                text = block.text.replace("/srv/shop", str(self.root))
                for old, new in replaced.items():
                    text = text.replace(old, new)
                file.write_text(text, encoding="utf-8")

    def dcf(self, *arguments: str) -> str:
        """What the command prints."""
        command = [self.root / ".venv/bin/dcf", *arguments]
        done = subprocess.run(
            command, env=self.env, cwd=self.root, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    @contextmanager
    def serving(self) -> Iterator[str]:
        """`dcf serve` until the block ends: its URL."""
        command = [self.root / ".venv/bin/dcf", "serve", "--port", "0"]
        env = self.env | {"DCF_RETRIEVAL_ROOTS": str(self.root)}
        with subprocess.Popen(command, env=env, cwd=self.root, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"]
            server.terminate()

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


@dataclass(frozen=True)
class Client:
    """One that is installed, with its page."""

    kind: CodingClient
    command: list[str]
    page: Path

    async def work(self, shop: Shop, plan: Plan) -> list[Body]:
        """Answer a prompt with the calls of ``plan``: what the model was asked."""
        async with serving_coding_model(plan) as model:
            arguments, env = self.kind.told(model.url, shop.home)
            child = await asyncio.create_subprocess_exec(
                *(*self.command, *arguments, "Why has the gateway no card?"),
                env=shop.env | env,
                cwd=shop.root,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await asyncio.wait_for(child.communicate(), 150)
        assert child.returncode == 0, said.decode()
        assert len(model.sessions) == len(plan) + 1, said.decode()
        return model.sessions


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, place: Packages) -> Client:
    kind: CodingClient = CLIENTS[request.param]
    return Client(kind, kind.install(place), REPOSITORY / _PAGES / f"{request.param}.md")


@pytest.mark.parametrize("name", CLIENTS)
def test_the_page_names_the_version_that_is_tried(name: str) -> None:
    page = (REPOSITORY / _PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert CLIENTS[name].package.rpartition("@")[2] in page


async def test_a_client_uses_the_memory_and_runs_the_hooks(client: Client, shop: Shop) -> None:
    shop.configure(client.page, "file")
    shop.dcf("retrieval", "log", KNOWN)
    tool, argument = client.kind.shell
    tests = f"{sys.executable} -m pytest -q test_pay.py"
    run = (tool, {argument: tests, "description": "Run the tests"})
    first, *_, last = await client.work(shop, [*TOOLS, run])
    # The hook at the prompt: before the first answer.
    asked = json.dumps(first)
    assert "What DCF has about this" in asked and KNOWN in asked
    *answered, tested = results_in(last)
    assert_answered(answered)
    assert SUMMARY in tested
    # The hook after the command: nobody has called a tool for that.
    items = shop.logged()
    assert DECIDED in [one["text"] for one in items]
    [failure] = [one for one in items if one["tags"] == ["error", "runlog"]]
    assert failure["text"].startswith(f"{tests} failed\n") and SUMMARY in failure["text"]
    assert failure["source"] == "pytest"


async def test_a_client_uses_a_server_that_runs_already(client: Client, shop: Shop) -> None:
    shop.dcf("retrieval", "log", KNOWN)
    with shop.serving() as url:
        shop.configure(client.page, "served", **{"http://127.0.0.1:8337/mcp": url})
        *_, last = await client.work(shop, TOOLS)
    assert_answered(results_in(last))
    assert DECIDED in [one["text"] for one in shop.logged()]


def assert_answered(results: list[str]) -> None:
    """The client has handed on what the tools said."""
    found, logged = results
    assert KNOWN in found and "dcf://memory/" in found
    assert "dcf://memory/" in logged
