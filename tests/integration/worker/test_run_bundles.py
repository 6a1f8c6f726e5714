"""An agent is told what its Task asks for of code, documents and records, as its skills permit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from integration.worker.crew import crew_on
from integration.worker.test_run_contexts import World
from memory_world import Numbered, Ticking
from unit.worker.test_worker_agent_tasks import FIND, a_skill

from dcf.documents import ReadDocument, ReadPiece
from dcf.memory import (
    SYSTEM,
    FileState,
    Memory,
    NewObservation,
    NewPlaybook,
    NewThread,
    NewTurn,
    Origin,
    Outline,
    Source,
    ToolUse,
)
from dcf.retrieval import (
    AuditLog,
    BackendSetting,
    FactHit,
    FactRetriever,
    FileItems,
    Lifetimes,
    NewItem,
    SqliteItems,
)
from dcf.search import count_tokens
from dcf.skills import Permissions, SkillCatalog
from dcf.worker.run_bundles import RunBundles

CODE = "def refund_order(order):\n    return order.total - order.fee\n"
PRIVATE = "def refund_key():\n    return 'the key of refunds'\n"
RULES = ReadDocument(
    "Rules", "markdown", (ReadPiece("A refund is paid within 14 days.", (), 1, 1),)
)
LOGGED = "The refund of May failed: the bank was away."
QUERY = "refund order key"


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    """With a document and a logged item of the project ``shop``, which has code."""
    shop = tmp_path / "shop"
    for path, text in (("src/refunds.py", CODE), ("private/keys.py", PRIVATE)):
        (shop / path).parent.mkdir(parents=True)
        (shop / path).write_text(text)
    source, clock = Source(tmp_path / "memory.db"), Ticking()
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as opened:
        state = FileState(1, "", "")
        await opened.documents.keep(str(shop), "docs/rules.md", state, RULES, by=SYSTEM)
        await SqliteItems(opened, SYSTEM).remember(str(shop), NewItem(LOGGED))
        yield opened
        assert await opened.check() == ()


@asynccontextmanager
async def world_of(
    redis_url: str,
    memory: Memory,
    folder: Path,
    *files: str,
    facts: FactRetriever | None = None,
    backend: BackendSetting | None = None,
    lifetimes: Lifetimes | None = None,
    audit: AuditLog | None = None,
) -> AsyncIterator[World]:
    """Agents whose skill permits ``files`` of the project ``shop``."""
    skill = replace(a_skill("search", FIND), permissions=Permissions(files=files))
    project = str(folder / "shop")
    bundles = RunBundles(
        *(memory, folder, project, facts), backend=backend, lifetimes=lifetimes, audit=audit
    )
    async with crew_on(redis_url) as crew:
        catalog = SkillCatalog([skill])
        yield World(crew, memory, "index", project, catalog=catalog, bundles=bundles)
    await bundles.close()


def found_in(asked: str) -> str:
    """The part of a request that tells what was found."""
    return asked.partition("<found>")[2].partition("</found>")[0]


class OneFact:
    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[FactHit, ...]:
        return (FactHit("search failed with BankAway.", "dcf://run/order-0", 3, 1),)


async def test_playbooks_facts_and_threads_are_told_beside_the_rest(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    project = str(tmp_path / "shop")
    playbook = NewPlaybook("BankAway: no answer", "Ask the other bank.", "ann", project=project)
    kept = await memory.playbooks.add(playbook, by=SYSTEM)
    tool = ToolUse("read", {"path": "private/keys.py"}, PRIVATE)
    turns = (NewTurn("ann", "BankAway?"), NewTurn("bob", "It was a holiday.", (tool,)))
    thread = NewThread("chatgpt", Outline("t1", project=project), turns)
    await memory.threads.sync(thread, by=SYSTEM)
    wanted = {"budget": 400, "query": "BankAway: no answer"}
    async with world_of(redis_url, memory, tmp_path, "src", facts=OneFact()) as world:
        asked = found_in(await world.run("order-1", context=wanted))
        (event,) = await world.events("order-1", "BundleGiven")
    assert "Ask the other bank." in asked and "search failed with BankAway." in asked
    # Of a thread what was said is told, not what tools read.
    assert r"    1 ann: BankAway?\n    2 bob: It was a holiday." in asked
    assert "the key of" not in asked
    thread_uri = "dcf://thread/thread-1/turn/1"
    assert {kept.citation, "dcf://run/order-0", thread_uri} <= set(event["citations"])


async def test_what_a_task_was_told_is_in_the_audit_log(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    audit = AuditLog.at_home(tmp_path, memory.ledger.clock, {})
    async with world_of(redis_url, memory, tmp_path, "src", audit=audit) as world:
        await world.run("order-1", context={"budget": 400, "query": QUERY})
        (event,) = await world.events("order-1", "BundleGiven")
    (noted,) = await AuditLog.at_home(tmp_path, memory.ledger.clock, {}).entries()
    assert (noted.operation, noted.project) == ("read", str(tmp_path / "shop"))
    assert noted.by.startswith("dcf://run/order-1/state/")
    assert set(noted.ids) == set(event["citations"]) and noted.count == len(noted.ids) > 0


@pytest.mark.parametrize("where", ["sqlite", "file"])
async def test_an_item_whose_time_is_over_is_not_told(
    redis_url: str, memory: Memory, tmp_path: Path, where: str
) -> None:
    clock = memory.ledger.clock
    backend = BackendSetting("file", tmp_path / "kept") if where == "file" else None
    if backend is not None and backend.path is not None:
        items = FileItems(backend.path, clock, Numbered())
        await items.remember(str(tmp_path / "shop"), NewItem(LOGGED))
    wanted = {"budget": 400, "query": LOGGED}
    for lifetimes, is_told in ((Lifetimes(others=1), False), (None, True)):
        opened = world_of(redis_url, memory, tmp_path, "src", backend=backend, lifetimes=lifetimes)
        async with opened as world:
            asked = found_in(await world.run(f"order-{is_told}", context=wanted))
        assert (LOGGED in asked) is is_told


async def test_an_agent_is_told_what_fits_of_the_files_that_its_skill_permits(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    async with world_of(redis_url, memory, tmp_path, "src", "docs/rules.md") as world:
        asked = found_in(await world.run("order-1", context={"budget": 400, "query": QUERY}))
        (event,) = await world.events("order-1", "BundleGiven")
        (agent,) = await world.agents.list(tags=["wf:order-1"])
        kept = await world.agents.messages(agent.id)
    assert "return order.total - order.fee" in asked
    assert "A refund is paid within 14 days." in asked and LOGGED in asked
    # Nothing is where it was read from.
    assert "## dcf://document/document-1/line/1 (outdated)" in asked
    assert "the key of refunds" not in asked
    assert all("order.fee" not in message.content for message in kept), "nothing is kept twice"
    assert event["not_permitted"] == ["private/keys.py"]
    assert sorted(event["citations"]) == [
        "dcf://code/src%2Frefunds.py/line/1-2",
        "dcf://document/document-1/line/1",
        "dcf://memory/passage-1",
    ]
    assert {kind: part["told"] for kind, part in event["kinds"].items()} == {
        "memory": 1,
        "code": 1,
        "document": 1,
    }
    assert count_tokens(asked) <= event["tokens"] <= event["budget"] == 400
    assert event["left_out"] == 1


async def test_what_another_backend_keeps_is_told_and_one_that_is_away_keeps_no_task(
    redis_url: str, memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    items = FileItems(tmp_path / "items", Ticking(), Numbered())
    await items.remember(str(tmp_path / "shop"), NewItem("The refund of June failed."))
    kept = BackendSetting("file")
    async with world_of(redis_url, memory, tmp_path, backend=kept) as world:
        asked = found_in(await world.run("order-1", context={"query": QUERY}))
    assert "refund of June" in asked and LOGGED not in asked
    away = BackendSetting("postgres", database="postgresql://ann@127.0.0.1:1/shop")
    async with world_of(redis_url, memory, tmp_path, backend=away) as world:
        assert "refund of" not in await world.run("order-2", context={"query": QUERY})
    assert "is done without what fits it: The PostgreSQL database" in caplog.text


async def test_without_permission_no_file_is_told_and_the_history_says_why(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    async with world_of(redis_url, memory, tmp_path) as world:
        asked = await world.run("order-1", context={"query": QUERY})
        assert LOGGED in asked
        assert "order.fee" not in asked and "14 days" not in asked
        (event,) = await world.events("order-1", "BundleGiven")
        assert event["citations"] == ["dcf://memory/passage-1"]
        (warning,) = event["warnings"]
        assert "code and document left out: none of the loaded skills" in warning
        asked = await world.run("order-2", context={"query": QUERY, "kinds": ["code"]})
        assert "<found>" not in asked
        asked = await world.run("order-3")
        assert "<found>" not in asked and await world.events("order-3", "BundleGiven") == []


async def test_a_task_without_memory_is_told_of_files_alone(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    async with world_of(redis_url, memory, tmp_path, ".") as world:
        none = {"scope": "none"}
        asked = await world.run("order-1", context={"query": QUERY}, memory=none)
    assert "order.fee" in asked and "14 days" in asked and "the key of refunds" in asked
    assert LOGGED not in asked


async def test_an_observation_is_told_once_and_of_the_own_workflow_alone(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    project = str(tmp_path / "shop")
    for number, (text, flow) in enumerate(
        [("zebra refunds fail", "orders"), ("zebra theirs", "returns"), ("tea is late", "orders")]
    ):
        new = NewObservation("bugfix", text, Origin("run", f"r{number}"), project, workflow=flow)
        await memory.observations.add(new, by=SYSTEM)
    async with world_of(redis_url, memory, tmp_path) as world:
        asked = await world.run("order-1", context={"query": "zebra"})
        (given,) = await world.given("order-1")
    assert "zebra refunds fail" in found_in(asked)
    assert asked.count("zebra refunds fail") == 1 and "zebra theirs" not in asked
    assert "tea is late" in asked.partition("<found>")[0], "what does not fit is told as ever"
    assert len(given) == 1


async def test_each_try_is_told_what_there_is_then_and_once(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    async with world_of(redis_url, memory, tmp_path, "src") as world:
        world.failures = 1
        agent = {"lifecycle": {"mode": "pooled"}}
        last = await world.run("order-1", context={"query": QUERY, "kinds": ["code"]}, **agent)
        first, again = await world.events("order-1", "BundleGiven")
    assert (first["try"], again["try"]) == (1, 2)
    assert first["citations"] == again["citations"] == ["dcf://code/src%2Frefunds.py/line/1-2"]
    assert len(world.asked) == 2 and last.count("return order.total - order.fee") == 1


async def test_what_cannot_be_looked_for_keeps_no_task_from_its_work(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "code").write_text("no folder")
    async with world_of(redis_url, memory, tmp_path, ".") as world:
        assert "14 days" in await world.run("order-1", context={"query": QUERY})
        (event,) = await world.events("order-1", "BundleGiven")
        (warning,) = event["warnings"]
        assert "document" in event["kinds"] and "; hint: " in warning
        # A NUL is in no text that is looked for.
        assert "<found>" not in await world.run("order-2", context={"query": "refund\0"})
