"""Nothing calls home: the first use of everything in an empty home, in a network without a way out,
leaves no file that DCF does not document, and nobody tries to leave."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lonely import Alone, run_alone
from wheels import Install, Installed, of_the_wheel

pytestmark = of_the_wheel

# DCF_HOME where it is not set: docs/reference/settings.md. The folder one works in is the user's.
_DOCUMENTED = Path(".local/share/dcf")
_MACHINE = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}

_MODEL = """
import asyncio, os, sys
from pydantic_ai import Agent
from dcf.agents.models import Models, ModelUnavailable, Tally

async def ask(name):
    try:
        await Agent(Models(os.environ).of(name, Tally())).run("hello")
    except ModelUnavailable as failure:
        print(name, failure)
    else:
        sys.exit("nobody can have answered")

asyncio.run(ask(sys.argv[1]))
"""
_LETTA = """
import asyncio
from dcf.agents.letta import LettaAgents, LettaServer, LettaUnreachable

async def ask():
    runtime = LettaAgents(LettaServer("http://127.0.0.1:1"))
    try:
        await runtime.check()
    except LettaUnreachable as failure:
        print(failure)
    await runtime.aclose()

asyncio.run(ask())
"""
_GRAPHITI = """
import asyncio, os
from control_plane.embedded import Embedded
from dcf.knowledge.graphiti import GraphitiSearch

async def search():
    graph = Embedded.from_env(os.environ).graph
    address = await graph.start()
    async with GraphitiSearch.open(address.url) as found:
        print(found.graphiti)
    await graph.stop()

asyncio.run(search())
"""
_DOCX = (
    "import docx; note = docx.Document(); note.add_paragraph('A bird that sings is a canary.');"
    " note.save('note.docx')"
)
_CODE = """
import asyncio
from pathlib import Path
from dcf.code import CodeRetriever

async def search():
    Path("tea.py").write_text("def brew(leaves):\\n    return leaves\\n")
    retriever = CodeRetriever(Path(), Path("code.db"))
    await retriever.sync()
    [hit, *_] = await retriever.find("brew")
    print(hit)

asyncio.run(search())
"""
_POSTGRES = """
import asyncio
from dcf.memory import random_id
from dcf.retrieval import PostgresItems, StoreUnreachable

async def log():
    try:
        async with PostgresItems.open("postgresql://ada@127.0.0.1:1/shop", lambda: 0, random_id):
            pass
    except StoreUnreachable as failure:
        print(failure)

asyncio.run(log())
"""
# An address on this machine where nobody listens: going there is asked for, going elsewhere is not.
_NEAR = {
    "DCF_MODEL_RETRIES": "0",
    "OPENAI_API_KEY": "x",
    "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
    "ANTHROPIC_API_KEY": "x",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
    "GOOGLE_API_KEY": "x",
    "GOOGLE_BASE_URL": "http://127.0.0.1:1",
}
FIRST_USES: dict[str, list[list[str]]] = {
    "core": [
        ["dcf", "--help"],
        ["dcf", "init", "."],
        ["dcf", "skills", "test"],
        ["dcf", "skills", "search", "greet"],
        ["dcf", "memory", "init", "ada"],
        ["dcf", "memory", "remember", "ada", "prefers oolong", "--passage"],
        ["dcf", "memory", "search", "tea"],
    ],
    "embedded": [["dcf", "demo"], ["dcf", "up", "--workers", "1"], ["dcf", "down"]],
    "knowledge": [["python", "-c", _GRAPHITI]],
    "sim": [["dcf", "sim", "--seed", "1", "--steps", "100"]],
    "png": [["dcf", "asl", "graph", "m.json", "--out", "m.png"]],
    "minilm": [
        ["dcf", "init", "."],
        ["env", "DCF_EMBEDDER=minilm", "dcf", "skills", "search", "greet"],
    ],
    "encryption": [
        ["dcf", "memory", "init", "ada"],
        ["env", "DCF_MEMORY_NEW_KEY=a key that is long enough", "dcf", "memory", "rekey", "--yes"],
    ],
    "openai": [["python", "-c", _MODEL, "openai:gpt-5-mini"]],
    "anthropic": [["python", "-c", _MODEL, "anthropic:claude-haiku-4-5"]],
    "google": [["python", "-c", _MODEL, "google:gemini-3-flash"]],
    "letta": [["python", "-c", _LETTA]],
    "postgres": [["python", "-c", _POSTGRES]],
    "code": [["python", "-c", _CODE]],
    "documents": [
        ["python", "-c", _DOCX],
        ["dcf", "documents", "add", "note.docx"],
        ["dcf", "documents", "search", "which bird sings"],
    ],
}


@pytest.fixture(scope="module")
def installed(install: Install) -> Installed:
    return install("[all]")


@pytest.fixture
def work(short_dir: Path) -> Iterator[Path]:
    """An empty folder beside an empty home."""
    folder = short_dir / "work"
    folder.mkdir()
    (folder / "m.json").write_text(json.dumps(_MACHINE))
    return folder


def alone(installed: Installed, work: Path, *commands: list[str], **more: str) -> Alone:
    env = installed.environment(work.parent / "home") | more
    return run_alone([["/usr/bin/env", *command] for command in commands], cwd=work, env=env)


@pytest.mark.parametrize("extra", FIRST_USES)
def test_a_first_use_leaves_no_undocumented_file_and_nobody_tries_to_leave(
    extra: str, installed: Installed, work: Path
) -> None:
    done = alone(installed, work, *FIRST_USES[extra], **_NEAR)

    assert set(done.codes) == {0}, done.said[-1]
    assert not done.attempts, f"find who: strace -f -e trace=connect,sendto {FIRST_USES[extra]}"
    home = work.parent / "home"
    files = {path.relative_to(home) for path in home.rglob("*") if not path.is_dir()}
    assert {file for file in files if not file.is_relative_to(_DOCUMENTED)} == set()


def test_every_extra_has_its_first_use(installed: Installed) -> None:
    code = (
        "from importlib.metadata import metadata; "
        "print(*metadata('dcf-agents').get_all('Provides-Extra'))"
    )
    told = subprocess.run(
        [installed.python, "-c", code], capture_output=True, text=True, check=True
    )
    # `all` is all of these; `local-llm` compiles for many minutes: `make test-llm` has it.
    assert set(told.stdout.split()) - {"all", "local-llm"} == set(FIRST_USES) - {"core"}


@pytest.mark.parametrize(
    "leaving",
    [
        ["python", "-c", "import socket; socket.socket().connect_ex(('8.8.8.8', 443))"],
        ["python", "-c", "import socket; socket.socket(10).connect_ex(('2001:4860::8888', 443))"],
        # In native code: no hook of Python would see it.
        ["getent", "ahosts", "telemetry.example.com"],
        ["python", "-c", "import socket\ntry: socket.getaddrinfo('x.example.com', 1)\nexcept: 0"],
    ],
    ids=["address", "IPv6", "native name", "name"],
)
def test_who_tries_to_leave_is_seen(leaving: list[str], installed: Installed, work: Path) -> None:
    assert alone(installed, work, leaving).attempts > 0


def test_going_to_this_machine_is_no_leaving(installed: Installed, work: Path) -> None:
    near = "import socket; socket.socket().connect_ex(('127.0.0.1', 1))"
    name = ["getent", "ahosts", "localhost"]
    assert alone(installed, work, ["python", "-c", near], name).attempts == 0


def test_what_a_vendor_writes_below_the_home_is_seen(installed: Installed, work: Path) -> None:
    """The variable is what keeps the files away: without it they are there."""
    alone(installed, work, ["python", "-c", "import onnxruntime"], ORT_DISABLE_TELEMETRY="0")
    assert list((work.parent / "home" / ".cache").rglob("*.db"))
