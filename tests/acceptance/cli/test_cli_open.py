"""``dcf open``: an address leads to what it names."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from memory_user import MemoryUser

from dcf.citation import TEMPLATES, Citation
from dcf.cli.cited import SHOWN
from dcf.cli.entry import run_command
from dcf.memory import (
    Actor,
    Memory,
    NewAgent,
    NewMessage,
    NewObservation,
    NewPassage,
    NewThread,
    NewTurn,
    Origin,
    Outline,
    Source,
    ToolUse,
    random_id,
)

Opened: TypeAlias = "Callable[[object], tuple[int, dict[str, Any]]]"
TALK = NewThread(
    "amp_thread",
    Outline("T-1/a b", title="A slow search"),
    (
        NewTurn("user", "Why is it slow?"),
        NewTurn("assistant", "The index is missing.", (ToolUse("grep", {"q": "index"}, "none"),)),
    ),
)


@pytest.fixture
def opened(memory: MemoryUser, capsys: pytest.CaptureFixture[str]) -> Opened:
    """Opens an address in a home with two threads and an observation."""

    async def fill() -> None:
        source = Source(memory.file)
        async with Memory.open(source, clock=lambda: now, new_id=random_id) as there:
            by = Actor("user", "ada")
            await there.threads.sync(TALK, by=by)
            issue = NewThread("beads_issue", Outline("shop-a1"), (NewTurn("bug", "Two charges"),))
            await there.threads.sync(issue, by=by)
            seen = NewObservation("bugfix", "One index more", Origin("attempt", "a-2", 4))
            await there.observations.add(seen, by=by)
            agent = await there.agents.create(NewAgent("ada"), by=by, blocks=())
            await there.messages.append(agent.id, NewMessage("user", "Oolong, please."), by=by)
            passage = NewPassage("Oolong: 90 degrees.", tags=("recipes",))
            await there.passages.insert(agent.id, passage, by=by)

    now = time.time_ns() // 1_000_000
    memory.home.mkdir()
    asyncio.run(fill())

    def open_(uri: object) -> tuple[int, dict[str, Any]]:
        code = run_command(["open", str(uri), "--json"])
        document: dict[str, Any] = json.loads(capsys.readouterr().out)
        return code, document

    return open_


def test_threads_issues_and_their_turns_are_shown(opened: Opened) -> None:
    code, document = opened(Citation("thread", "T-1/a b"))
    assert (code, [turn["text"] for turn in document["turns"]]) == (
        0,
        ["Why is it slow?", "The index is missing."],
    )
    code, document = opened(Citation("thread", "T-1/a b", "turn", number=2))
    (turn,) = document["turns"]
    assert (code, turn["tools"][0]["output"]) == (0, "none")
    code, document = opened("dcf://issue/shop-a1")
    assert document["turns"][0]["text"] == "Two charges"
    assert opened("dcf://thread/T-9")[1]["error"]["code"] == "memory_unknown_thread"
    assert opened("dcf://thread/shop-a1/turn/7")[1]["error"]["code"] == "memory_unknown_turn"


def test_turns_that_stand_at_their_source_no_more_are_shown_by_their_own_address_only(
    opened: Opened, memory: MemoryUser
) -> None:
    edited = NewThread("beads_issue", Outline("shop-a1"), (NewTurn("bug", "Three charges"),))

    async def edit() -> None:
        source = Source(memory.file)
        async with Memory.open(source, clock=lambda: 9, new_id=random_id) as there:
            await there.threads.sync(edited, by=Actor("user", "ada"))

    asyncio.run(edit())
    turns = opened("dcf://issue/shop-a1")[1]["turns"]
    assert [(turn["text"], turn["standing"]) for turn in turns] == [("Three charges", "current")]
    (cited,) = opened("dcf://thread/shop-a1/turn/1")[1]["turns"]
    assert (cited["text"], cited["standing"]) == ("Two charges", "gone")


def test_observations_are_shown_by_their_address_and_by_where_they_are_from(
    opened: Opened,
) -> None:
    _, document = opened("dcf://attempt/a-2/step/4")
    (one,) = document["observations"]
    for uri in (one["uri"], f"dcf://thread/T-1/observation/{one['id']}", "dcf://attempt/a-2"):
        assert opened(uri)[1]["observations"][0]["title"] == "One index more"
    code, document = opened("dcf://attempt/a-2/step/5")
    assert (code, document["error"]["code"]) == (2, "cli_open_attempt")
    assert "step 5 of the attempt a-2" in document["error"]["message"]


def test_what_a_search_quotes_is_shown_by_its_address(
    opened: Opened, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["memory", "search", "oolong", "--budget", "200", "--json"]) == 0
    quoted = json.loads(capsys.readouterr().out)
    assert quoted["tokens"] <= 200
    shown = [opened(one["uri"]) for one in quoted["quoted"]]
    texts = [
        document.get("message", {}).get("content") or document["passage"]["text"]
        for _, document in shown
    ]
    assert sorted(texts) == ["Oolong, please.", "Oolong: 90 degrees."]
    for uri, error in (
        ("dcf://agent/ada/message/2", "memory_unknown_message"),
        ("dcf://memory/passage-9", "memory_unknown_passage"),
        ("dcf://memory/entry-9", "memory_unknown_entry"),
    ):
        code, document = opened(uri)
        assert (code > 0, document["error"]["code"]) == (True, error)
    code, document = opened("dcf://agent/ada/message/first")
    assert (code, document["problems"][0]["code"]) == (2, "CLI_MESSAGE_NUMBER")


def test_an_entry_of_a_node_is_shown(opened: Opened, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["memory", "scope", "add", "exp/base", "Flat loss.", "--json"]) == 0
    (kept,) = json.loads(capsys.readouterr().out)["entries"]
    code, document = opened(f"dcf://memory/{kept['id']}")
    assert (code, document["node"], document["entry"]["text"]) == (0, "exp/base", "Flat loss.")


def test_what_is_no_address_or_is_shown_elsewhere_is_said(opened: Opened) -> None:
    code, document = opened("dcf://run/nightly/stat/Pay")
    assert code == 2
    assert "dcf://run/{workflow_id}/state/{path}" in document["problems"][0]["hint"]
    code, document = opened("dcf://node/exp")
    assert (code, document["error"]["code"]) == (1, "cli_open_kind")
    assert set(SHOWN) < set(TEMPLATES)


@pytest.fixture
def project(memory: MemoryUser) -> Path:
    """The folder of a project with some files, inside of which the user is."""
    root = memory.folder
    (root / ".git").mkdir()
    (root / "shop" / "inner").mkdir(parents=True)
    (root / "shop" / "pay.py").write_bytes(b"def pay(order):\r\n    [bold]\n    return order\n")
    (root / "shop" / "bild.png").write_bytes(b"\x89PNG\0\0")
    (root / "shop" / ".env").write_text("PASSWORD=tea\n")
    (root / "secret.log").write_text("PASSWORD=tea\n")
    (root / ".gitignore").write_text("*.log\n")
    (root.parent / "outside.py").write_text("PASSWORD = 'tea'\n")
    (root / "way.py").symlink_to(root.parent / "outside.py")
    (root / "up").symlink_to(root.parent)
    memory.patch.chdir(root / "shop" / "inner")
    return root


def test_lines_of_code_are_shown_with_their_numbers(
    opened: Opened, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = opened("dcf://code/shop%2Fpay.py/line/2-3")
    assert (code, document["path"], document["root"]) == (0, "shop/pay.py", str(project))
    assert document["lines"] == ["    [bold]", "    return order"]
    assert (document["first_line"], document["last_line"]) == (2, 3)
    _, document = opened(Citation("code", "shop/pay.py", "line", number=1))
    assert document["lines"] == ["def pay(order):"]
    # A file that became shorter shows what is left.
    _, document = opened("dcf://code/shop%2Fpay.py/line/3-90")
    assert (document["lines"], document["last_line"]) == (["    return order"], 3)
    assert run_command(["open", "dcf://code/shop%2Fpay.py/line/2-3"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["2      [bold]", "3      return order"]


def test_what_a_search_of_code_cites_is_shown(
    opened: Opened, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["retrieval", "context", "pay an order", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["context"]
    code, document = opened(found["citation"])
    assert (code, document["lines"][0]) == (0, "def pay(order):")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("..%2Foutside.py", "no path inside of the project's folder"),
        ("shop%2F..%2F..%2Foutside.py", "no path inside of the project's folder"),
        ("%2Fetc%2Fpasswd", "no path inside of the project's folder"),
        ("shop%2F%2Fpay.py", "no path inside of the project's folder"),
        ("way.py", "a link"),
        ("up%2Foutside.py", "a link"),
        ("up%2Ftea-house%2Fshop%2Fpay.py", "a link"),
        ("shop", "Is a directory"),
        ("shop%2Fgone.py", "No such file"),
        ("secret.log", "git ignores it"),
        ("shop%2F.env", "begins with a dot"),
        ("shop%2Fbild.png", "it is binary"),
        (f"{'a' * 300}.py", "File name too long"),
    ],
)
def test_what_is_no_file_that_is_searched_is_not_shown(
    opened: Opened, project: Path, path: str, reason: str
) -> None:
    code, document = opened(f"dcf://code/{path}/line/1")
    assert (code, document["error"]["code"]) == (2, "code_unshown_file")
    assert reason in document["error"]["message"] and document["error"]["hint"]
    assert "tea'" not in json.dumps(document)


def test_lines_behind_the_end_of_a_file_are_none(opened: Opened, project: Path) -> None:
    code, document = opened("dcf://code/shop%2Fpay.py/line/4")
    assert code == 2 and "ends at line 3, before line 4" in document["error"]["message"]
