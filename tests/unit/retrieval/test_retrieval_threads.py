"""Turns of a project's threads answer with those beside them, each turn once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import SYSTEM, Memory, NewThread, NewTurn, Outline, Source, Subject, ToolUse
from dcf.retrieval import (
    AuditLog,
    Caller,
    Candidate,
    ContextQuestion,
    Mode,
    NewItem,
    Retrieval,
    SqliteItems,
    ThreadRetriever,
)
from dcf.retrieval.serving.answers import context_item

SHOP = "/work/shop"
KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == ()


def retrieval_of(memory: Memory, audit: AuditLog | None = None) -> Retrieval:
    items, shelf = SqliteItems(memory, SYSTEM), ThreadRetriever(memory)
    return Retrieval(items, None, memory.ledger.clock, threads=shelf, audit=audit)


async def sync(memory: Memory, name: str, *turns: NewTurn | str, project: str = SHOP) -> None:
    said = (NewTurn("user", one) if isinstance(one, str) else one for one in turns)
    outline = Outline(name, project=project, title=f"About {name}")
    await memory.threads.sync(NewThread("chatgpt", outline, tuple(said)), by=SYSTEM)


async def told(memory: Memory, query: str, **more: object) -> list[Candidate]:
    question = ContextQuestion(SHOP, query, **more)  # type: ignore[arg-type]
    answered = await retrieval_of(memory).context(question)
    return [one.candidate for one in answered.found]


async def test_a_turn_is_told_with_those_beside_it(memory: Memory, tmp_path: Path) -> None:
    turns = (
        NewTurn("ann", "Good morning."),
        NewTurn("ann", f"Why is the order billed twice?\nThe key is {KEY}."),
        NewTurn("bob", "Because of the idempotency key.", at=1_750_000_000_000),
        NewTurn("ann", "Thanks!"),
        NewTurn("ann", "Bye."),
    )
    await sync(memory, "t1", *turns)
    await sync(memory, "t2", *turns, project="/work/other")
    audit = AuditLog(tmp_path / "audit", memory.ledger.clock)
    retrieval = retrieval_of(memory, audit)

    answered = await retrieval.context(ContextQuestion(SHOP, "idempotency"), Caller("ada"))
    await audit.close()

    (one,) = answered.found
    entry = context_item(one)
    assert entry["text"].splitlines() == [
        "2 ann: Why is the order billed twice?",
        "  The key is [redacted: github token].",
        "3 bob: Because of the idempotency key.",
        "4 ann: Thanks!",
    ]
    assert entry["citation"] == "dcf://thread/thread-1/turn/3"
    known = {name: entry[name] for name in ("type", "role", "source", "title", "turns")}
    assert known == {
        "type": "thread",
        "role": "bob",
        "source": "chatgpt",
        "title": "About t1",
        "turns": [2, 3, 4],
    }
    assert entry["timestamp"] == 1_750_000_000_000 and entry["tokens"] > 20
    assert one.why[0].startswith("1. of thread: words ")
    (noted,) = await audit.entries()
    assert noted.ids == tuple(f"dcf://thread/thread-1/turn/{number}" for number in (2, 3, 4))


async def test_threads_of_folders_in_the_project_are_told_too(memory: Memory) -> None:
    for place in ("", "/web/cart", "-old", "0"):
        await sync(memory, f"t{place}", f"A plum of t{place}.", project=f"{SHOP}{place}")

    assert {one.about["title"] for one in await told(memory, "plum")} == {
        "About t",
        "About t/web/cart",
    }


async def test_what_stands_beside_two_hits_is_told_once(memory: Memory) -> None:
    texts = ["A plum is a plum.", "Is it?", "The plum is blue.", "So.", "No fruit.", "A fig."]
    await sync(memory, "t1", *texts)

    found = await told(memory, "plum")

    numbers = [number for one in found for number in one.about["turns"]]
    assert sorted(numbers) == [1, 2, 3, 4]
    # The second turn stands beside both that say the word, and is told with the better one.
    assert {one.text for one in found} in (
        {"1 user: A plum is a plum.\n2 user: Is it?", "3 user: The plum is blue.\n4 user: So."},
        {"1 user: A plum is a plum.", "2 user: Is it?\n3 user: The plum is blue.\n4 user: So."},
    )


async def test_a_long_turn_is_cut_as_a_whole_where_it_answers_and_short_beside(
    memory: Memory,
) -> None:
    """What says the word itself is told around it, also beside a better hit."""
    far = "so " * 1_000
    await sync(memory, "t1", f"{far}before", "A plum, plums.", f"{far}plum. {far}", f"{far}after")

    (one, *others) = await told(memory, "plum")

    before, best, after = one.text.splitlines()
    assert before.endswith("so before") and before.startswith("1 user: … ") and len(before) < 320
    assert best == "2 user: A plum, plums."
    assert "plum." in after and 1_200 < len(after) < 1_220
    assert all(4 in other.about["turns"] for other in others)


async def test_beside_a_turn_stands_what_stands_there_at_the_source(memory: Memory) -> None:
    """Turns in which nothing was said, that were left or edited, are not told; one that came later
    is told where it was inserted."""
    silent = NewTurn("assistant", " ", (ToolUse("ls", {}, "plums.txt"),))
    await sync(memory, "t1", "First.", NewTurn("user", "Left.", rewound=True), silent, "A peach.")
    await sync(memory, "t2", "Something else.")
    await sync(
        memory,
        "t1",
        *("First.", NewTurn("user", "Left.", rewound=True), silent, "A peach.", "Later.", "Last."),
    )
    (one,) = [one for one in await told(memory, "peach") if "peach" in one.text]
    assert one.text.splitlines() == ["1 user: First.", "4 user: A peach.", "5 user: Later."]

    await sync(memory, "t1", "First.", silent, "Inserted.", "A peach.", "Last.")
    (one,) = [one for one in await told(memory, "peach") if "peach" in one.text]
    assert one.text.splitlines() == ["7 user: Inserted.", "4 user: A peach.", "6 user: Last."]
    assert one.about["turns"] == [7, 4, 6]


async def test_where_files_are_permitted_no_tool_tells_of_others(memory: Memory) -> None:
    tool = ToolUse("read", {"path": "private/keys.py"}, "the plum of keys")
    silent = ToolUse("read", {"path": "private/plums.py"}, "plums")
    await sync(
        memory,
        *("t1", "Look.", NewTurn("assistant", "I read of a plum.", (tool,)), "Good."),
        NewTurn("assistant", "", (silent,)),
    )
    (all_of_it, *_) = await told(memory, "plum")
    found = await told(memory, "plum", files=["src"])

    assert "private/keys.py" in all_of_it.text
    assert [one.text.splitlines() for one in found] == [
        ["1 user: Look.", "2 assistant: I read of a plum.", "3 user: Good."]
    ]


@pytest.mark.parametrize(
    ("query", "more"),
    [("plum", {"mode": "guide"}), ("?!", {}), ("plum", {"kinds": ["memory", "observation"]})],
)
async def test_threads_are_told_where_they_are_asked_for(
    memory: Memory, query: str, more: dict[str, Mode | list[str]]
) -> None:
    await sync(memory, "t1", "A plum.")
    assert await told(memory, query, **more) == []
    assert len(await told(memory, "plum", kinds=["thread"])) == 1


async def test_a_budget_has_a_share_for_threads(memory: Memory) -> None:
    await sync(memory, "t1", *(f"Plum number {number}, {'so ' * 60}" for number in range(40)))
    retrieval = retrieval_of(memory)
    for number in range(40):
        await retrieval.log(SHOP, NewItem(f"The plum, for the {number}th time: {'so ' * 60}"))

    answered = await retrieval.context(ContextQuestion(SHOP, "plum", limit=100, budget=2_000))

    assert answered.bundle is not None and answered.bundle.used <= 2_000
    part = answered.bundle.parts["thread"]
    assert (part.floor, part.ceiling) == (100, 500) and part.taken >= 1
    assert answered.bundle.parts["memory"].taken >= 1


async def test_what_is_forgotten_of_a_thread_is_not_told(memory: Memory) -> None:
    await sync(memory, "t1", "Who wrote it?", "Zacharias wrote of plums.", "Good.")
    assert "Zacharias" in (await told(memory, "plums"))[0].text

    subject = Subject.of("Zacharias")
    receipt = await memory.forgetting.begin(subject, by=SYSTEM)
    await memory.forgetting.forget(subject, receipt)

    assert all("Zacharias" not in one.text for one in await told(memory, "plums who wrote it"))
