"""``dcf open``: an address leads to what it names."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
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
    code, document = opened("dcf://code/notes.py/line/2")
    assert (code, document["error"]["code"]) == (1, "cli_open_kind")
    assert set(SHOWN) < set(TEMPLATES)
