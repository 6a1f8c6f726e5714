"""What names a subject is forgotten, for good: rows, history, search, and the bytes of the file."""

from __future__ import annotations

import asyncio
import gzip
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from campaigns import REMEMBERED, settled
from memory_world import Numbered, Ticking, started
from unit.memory.memory_ways import WAYS

from dcf.memory import (
    SNAPSHOT_FILE,
    Actor,
    Memory,
    NewAgent,
    NewBlock,
    NewEntry,
    NewMessage,
    NewNode,
    NewObservation,
    NewPassage,
    NewProject,
    NewThread,
    NewTurn,
    Origin,
    Outline,
    Receipt,
    RollbackRefused,
    Source,
    Subject,
    SubjectTooShort,
    TextForgotten,
    UnknownPassage,
    Unreached,
)

pytestmark = settled(*REMEMBERED, "dcf/agents")

BY = Actor("user", "ada", "she asked for it")


def open_memory(folder: Path, **how: Any) -> Any:
    return Memory.open(
        Source(folder / "m.db"), clock=Ticking(), new_id=Numbered(), embedder="none", **how
    )


async def forgotten(memory: Memory, text: str) -> Receipt:
    subject = Subject.of(text)
    receipt_id = await memory.forgetting.begin(subject, by=BY)
    await memory.forgetting.forget(subject, receipt_id)
    return await memory.forgetting.end(subject, receipt_id, ())


def raw(folder: Path) -> bytes:
    """All that is in the file and beside it, in small letters."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob("m.db*"))).lower()


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_is_left_whatever_way_it_came_in(way: str, tmp_path: Path) -> None:
    # Each way keeps texts in which secrets stood: all of them have this word in them.
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(NewAgent("ann"), by=BY, agent_id="ann", blocks=[])
        await WAYS[way](memory)
        assert b"redact" in raw(tmp_path)
        receipt = await forgotten(memory, "redacted")
        assert receipt.tombstones
        # In the log beside the file too, while it is open.
        assert b"redact" not in raw(tmp_path)
        assert await memory.forgetting.check(receipt, Subject.of("redacted")) == ()
        assert await memory.check() == ()
    assert b"redact" not in raw(tmp_path)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Ann Miller called", True),
        ("ANN\n  miller", True),
        ("ann_miller", False),
        ("about_ann miller_2", True),
        ("Joann Miller", False),
        ("Ann Millers", False),
        ('{"who": ["Ann\\nMiller"]}', True),
        ('{"arguments": "{\\"who\\": \\"Ann \\\\u004diller\\"}"}', True),
        ("/home/Ann Miller/notes", True),
        ("Ann M\u0131ller", True),
        ('["\\u0041nn Miller"]', True),
    ],
)
def test_what_names_a_subject(text: str, is_named: bool) -> None:
    assert Subject.of("ann miller").is_named_in(text) is is_named


def test_a_letter_with_a_mark_is_one_character_or_two() -> None:
    assert Subject.of("Zo\u00eb").is_named_in("zoe\u0308 is here")
    assert Subject.of("Zoe\u0308").is_named_in("ZO\u00cb is here")
    assert not Subject.of("Zo\u00eb").is_named_in("zoe is here")


def test_a_subject_of_few_letters_is_refused() -> None:
    with pytest.raises(SubjectTooShort, match="has 2 letters"):
        Subject.of("..An..")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("one\nAnn is two\nthree", "one\nthree"),
        ("Ann", ""),
        ("one\nAnn", "one\n"),
        ("Ann\nAnn\nlast Ann", ""),
        ("Ann and Ann\nrest", "rest"),
        ("nothing", "nothing"),
    ],
)
def test_only_the_lines_of_a_block_go(text: str, left: str) -> None:
    assert Subject.of("ann").without_lines(text) == left


async def world(memory: Memory) -> None:
    """Names and texts of X beside those of others."""
    await memory.agents.create(
        NewAgent("miller", description="for Miller", tags=("Miller", "tea"), metadata={"a": 1}),
        by=BY,
        agent_id="a-1",
        blocks=[NewBlock("notes", "oolong\nMiller: 555\nsencha\n"), NewBlock("miller", "tea")],
    )
    await memory.agents.create(NewAgent("bob"), by=BY, agent_id="a-2", blocks=[])
    await memory.projects.create(NewProject("/work/miller", name="Miller"), by=BY)
    await memory.projects.create(NewProject("/work/shop", name="Shop"), by=BY)
    for agent in ("a-1", "a-2"):
        await memory.messages.append(
            agent,
            NewMessage("user", "ask Miller", correlation_id="c-1"),
            NewMessage("assistant", "", parts=(_call("Miller"),)),
            NewMessage("tool", "Miller said yes", parts=(_return("Miller"),)),
            NewMessage("user", "thanks", sender="miller"),
            NewMessage("assistant", "you are welcome"),
            by=BY,
        )
        for text, tags in (("Miller likes tea", ()), ("tea is hot", ("miller",)), ("cake", ())):
            await memory.passages.insert(agent, NewPassage(text, tags=tags), by=BY)
    for project in ("/work/miller", "/work/shop"):
        origin = Origin("run", f"r{len(project)}")
        for title in ("Miller is late", "the train is late"):
            new = NewObservation("discovery", title, origin, project=project)
            await memory.observations.add(new, by=BY)
        thread = NewThread(
            "amp",
            Outline(f"t-{project}", title="trains", project=project),
            (
                NewTurn("user", "who is Miller?", key="k1"),
                NewTurn("assistant", "a pilot of trains"),
            ),
        )
        await memory.threads.sync(thread, by=BY)
    node = await memory.nodes.add(NewNode("shop", "exp", "miller", title="of Miller"), by=BY)
    other = await memory.nodes.add(NewNode("shop", "exp", "plain", title="plain"), by=BY)
    for one in (node, other):
        await memory.nodes.write(one.id, NewEntry("Miller was here"), by=BY)
        await memory.nodes.write(one.id, NewEntry("plums"), by=BY)


def _call(who: str) -> dict[str, Any]:
    return {"kind": "call", "id": "call-1", "tool": "ring", "arguments": {"name": who}}


def _return(who: str) -> dict[str, Any]:
    return {"kind": "return", "id": "call-1", "tool": "ring", "content": f"{who} said yes"}


async def test_names_and_texts_go_and_others_stay(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await world(memory)
        receipt = await forgotten(memory, "Miller")
        assert b"miller" not in raw(tmp_path)
        assert await memory.check() == ()
        agent = await memory.agents.get("a-1")
        assert agent.name.startswith("forgotten-") and agent.tags == ("[forgotten]", "tea")
        blocks = {one.label: one.value for one in await memory.blocks.list("a-1")}
        assert blocks.pop("notes") == "oolong\nsencha\n"
        assert [*blocks.values()] == ["tea"], "under another label"
        said = await memory.messages.list("a-2")
        gone = "[forgotten]"
        assert [one.content for one in said] == [gone, "", gone, "thanks", "you are welcome"]
        # A call and its return still belong together.
        assert [part["id"] for one in said for part in one.parts] == ["call-1", "call-1"]
        assert said[1].parts[0]["arguments"] == {"name": "[forgotten]"}
        assert [one.text for one in await memory.passages.list("a-1")] == ["cake"]
        entries = await memory.nodes.entries((await memory.nodes.named("shop", "exp", "plain")).id)
        assert [one.text for one in entries] == ["plums"]
        assert {one.kind for one in receipt.tombstones} >= {"agent", "block", "message", "node"}
        assert "iller" not in repr(receipt)


@pytest.mark.parametrize("query", ["Miller", "miller 555", "Millers"])
async def test_search_finds_it_no_more(query: str, tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await world(memory)
        assert await memory.search.find(query)
        await forgotten(memory, "Miller")
        assert await memory.search.find(query) == ()
        assert await memory.search.find("plums")


async def test_no_rollback_brings_it_back(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await world(memory)
        kept = await memory.passages.list("a-2")
        before = await memory.events.last()
        await memory.agents.delete("a-2", by=BY)
        last = await memory.events.last()
        await forgotten(memory, "Miller")
        block = await memory.blocks.read("a-1", "notes")
        for attempt in (
            memory.events.roll_back_block(block.id, last - 1, by=BY),
            memory.events.roll_back_agent("a-1", last, by=BY),
        ):
            with pytest.raises((RollbackRefused, TextForgotten), match="forgotten for good"):
                await attempt
        with pytest.raises(TextForgotten, match="receipt-1"):
            await memory.events.text(block.id, 5)
        # What was deleted comes back without it.
        await memory.events.roll_back_agent("a-2", before, by=BY)
        assert [one.text for one in await memory.passages.list("a-2")] == ["cake"]
        for one in kept[:2]:
            with pytest.raises(UnknownPassage):
                await memory.passages.get(one.id)
        assert await memory.forgetting.find(Subject.of("Miller")) == ()
        assert await memory.check() == ()
        await memory.blocks.append("a-1", "notes", "more", by=BY)
        await memory.events.undo(await memory.events.last(), by=BY)
        assert (await memory.blocks.read("a-1", "notes")).value == block.value


async def test_what_two_edits_put_together_is_in_no_history(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(
            NewAgent("x"), by=BY, agent_id="a", blocks=[NewBlock("notes", "so Mil")]
        )
        for text in ("so Miller", "so Mixer", "so be it"):
            await memory.blocks.write("a", "notes", text, by=BY)
        block = await memory.blocks.read("a", "notes")
        assert await memory.events.text(block.id, await memory.events.last() - 2) == "so Miller"
        await forgotten(memory, "Miller")
        for seq in range(1, await memory.events.last()):
            with suppress(TextForgotten):
                assert "Miller" not in str(await memory.events.text(block.id, seq))
        assert (await memory.blocks.read("a", "notes")).value == "so be it"


async def test_what_another_does_not_name_is_untouched(tmp_path: Path) -> None:
    """Byte for byte: rows, and the events of rows that never named it."""

    def rows(connection: Any) -> dict[str, list[Any]]:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'search_%'"
            " AND name NOT LIKE 'sqlite_%' AND name NOT IN ('receipts', 'tombstones')"
        ).fetchall()
        return {
            name: [tuple(row) for row in connection.execute(f"SELECT * FROM {name}")]
            for (name,) in names
        }

    async with open_memory(tmp_path) as memory:
        await world(memory)
        before = await memory.ledger.read(rows)
        await forgotten(memory, "Miller")
        after = await memory.ledger.read(rows)
    for name, some in before.items():
        plain = [row for row in some if "iller" not in repr(row)]
        if name == "events":
            # An entry that named it takes its history with it.
            gone = {row[0] for row in plain} - {row[0] for row in after[name]}
            assert not gone
            continue
        lost = [row for row in plain if row not in after[name]]
        # The thread of a project that was renamed, and what stands beside it, are other rows.
        assert lost == [], name


async def test_receipts_do_not_say_it_whoever_asked(tmp_path: Path) -> None:
    carla = Actor("user", "carla", "for carla")
    missed = Unreached("/home/carla/m.db.before-1", "a copy", "remove it")
    async with open_memory(tmp_path) as memory:
        await world(memory)
        for text in ("Miller", "carla"):
            subject = Subject.of(text)
            receipt_id = await memory.forgetting.begin(subject, by=carla)
            await memory.forgetting.forget(subject, receipt_id)
            receipt = await memory.forgetting.end(subject, receipt_id, (missed,))
        first = (await memory.forgetting.receipts())[1]
        assert {one.kind for one in receipt.tombstones if one.ref == first.id} == {"receipt"}
        for one in (first, receipt):
            assert one.by.name.startswith("forgotten-")
            assert one.unreached == (Unreached("[forgotten]", "a copy", "remove it"),)
        assert first.by.reason == "[forgotten]" and receipt.by.reason == ""
        assert b"carla" not in raw(tmp_path)
        assert await memory.forgetting.check(receipt, subject) == ()


async def test_it_can_be_interrupted_and_goes_on(tmp_path: Path) -> None:
    subject = Subject.of("Miller")
    async with open_memory(tmp_path) as memory:
        await world(memory)
        first = await memory.forgetting.begin(subject, by=BY)
        await memory.forgetting.forget(subject, first)
        assert (await memory.forgetting.receipt(first)).ended_at is None
        assert await memory.forgetting.begin(subject, by=BY) == first
        receipt = await memory.forgetting.end(subject, first, ())
        assert receipt.ended_at is not None
        second = await memory.forgetting.begin(subject, by=BY)
        assert second != first
        await memory.forgetting.forget(subject, second)
        assert (await memory.forgetting.end(subject, second, ())).tombstones == ()
        assert await memory.forgetting.receipt(first) == receipt


async def test_a_snapshot_does_not_bring_it_back(tmp_path: Path) -> None:
    old, again = tmp_path / "old", tmp_path / "again"
    async with open_memory(tmp_path) as memory:
        await world(memory)
        for folder in (old, again):
            await memory.snapshots.back_up("shop", "exp", folder, by=BY)
        assert b"Miller" in gzip.decompress((old / SNAPSHOT_FILE).read_bytes())
        await forgotten(memory, "Miller")
        # It is what the checkpoint was before, so it is replaced by what that is now.
        await memory.snapshots.back_up("shop", "exp", again, by=BY)
        assert b"iller" not in gzip.decompress((again / SNAPSHOT_FILE).read_bytes())
        for folder, name in ((old, "second"), (again, "third")):
            await memory.snapshots.restore(folder, "shop", by=BY, checkpoint=name)
            plain = await memory.nodes.named("shop", name, "plain")
            assert [one.text for one in await memory.nodes.entries(plain.id)] == ["plums"]
        assert await memory.forgetting.find(Subject.of("Miller")) == ()
        await memory.nodes.purge("shop", "exp", by=BY)
        await memory.snapshots.restore(old, "shop", by=BY)
        assert await memory.forgetting.find(Subject.of("Miller")) == ()
        assert await memory.check() == ()


FORGETTER = """
import asyncio, sys
from pathlib import Path
from dcf.memory import Actor, Memory, Source, Subject, random_id
from dcf.memory.forgetting import forgetting
forgetting._BATCH = 3

async def run():
    source = Source(Path(sys.argv[1]))
    async with Memory.open(source, clock=lambda: 1, new_id=random_id, embedder="none") as memory:
        subject, by = Subject.of("Miller"), Actor("user", "ada")
        receipt_id = await memory.forgetting.begin(subject, by=by)
        print("begun", flush=True)
        await memory.forgetting.forget(subject, receipt_id)
        await memory.forgetting.end(subject, receipt_id, ())

asyncio.run(run())
"""


async def test_who_is_killed_over_it_leaves_a_whole_file_and_goes_on(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await world(memory)
    for share in (0.0, 0.02):
        process = started(FORGETTER, tmp_path / "m.db")
        assert process.stdout is not None and process.stdout.readline() == b"begun\n"
        await asyncio.sleep(share)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        async with Memory.open(
            Source(tmp_path / "m.db"), clock=Ticking(), new_id=Numbered(), embedder="none"
        ) as memory:
            assert await memory.check() == ()
    async with open_memory(tmp_path) as memory:
        receipt = await forgotten(memory, "Miller")
        # One that was quicker than its end has a receipt of its own.
        every = await memory.forgetting.receipts()
        assert all(one.ended_at is not None for one in every)
        went = [stone for one in every for stone in one.tombstones]
        assert len({(one.kind, one.ref, one.fate) for one in went if one.kind != "event"}) == len(
            [one for one in went if one.kind != "event"]
        )
        assert {"passage", "agent", "message"} <= {one.kind for one in went}
        assert await memory.forgetting.check(receipt, Subject.of("miller")) == ()
        assert await memory.check() == ()
    assert b"miller" not in raw(tmp_path)


@pytest.mark.parametrize(
    "text", ["deleted", "changed", "project", "content", "kind", "forgotten", "title", "agent"]
)
async def test_words_of_ours_are_no_end_without_end(text: str, tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await world(memory)
        before = await memory.messages.list("a-2")
        subject = Subject.of(text)
        receipt_id = await memory.forgetting.begin(subject, by=BY)
        left = await memory.forgetting.forget(subject, receipt_id)
        assert left == () and await memory.forgetting.find(subject) == ()
        assert await memory.messages.list("a-2") == before
        assert await memory.check() == ()


async def test_an_id_that_names_it_stays_and_is_on_the_receipt(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        await memory.agents.create(
            NewAgent("x"), by=BY, agent_id="ann miller", blocks=[NewBlock("human", "Ann Miller")]
        )
        receipt = await forgotten(memory, "Ann Miller")
        why = "the id of a row names it, and others refer to that"
        assert f"{why}: agent" in {one.why for one in receipt.unreached}
        assert (await memory.blocks.read("ann miller", "human")).value == ""
        assert await memory.check() == ()


async def test_a_block_of_json_is_emptied_too(tmp_path: Path) -> None:
    async with open_memory(tmp_path) as memory:
        value = '["Ann\\u0020Miller", "tea"]'
        await memory.agents.create(
            NewAgent("x"), by=BY, agent_id="a", blocks=[NewBlock("human", value)]
        )
        await forgotten(memory, "Ann Miller")
        assert (await memory.blocks.read("a", "human")).value == '["[forgotten]", "tea"]'
        assert await memory.check() == ()
