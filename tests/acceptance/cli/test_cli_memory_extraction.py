"""``dcf memory observations extract`` over the wire: real command, real HTTP client; only what the
model says is scripted."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from extraction_world import agent_of, converse, turn
from integration.agents.wire_model import Answer, Body, Refuse, Say, WireModel, serving_model
from memory_user import MemoryUser

from control_plane.embedded import Check
from dcf.cli.entry import run_command
from dcf.cli.memory.extraction_standing import extraction_checks
from dcf.cli.memory.opening import source_in
from dcf.cli.settings import Settings
from dcf.memory import SYSTEM, Memory, Source, random_id
from dcf.memory.extraction import Limits, Spending
from dcf.memory.extraction.standing import pause

SAMPLES = Path(__file__).parents[2] / "data" / "transcripts"
KEY = "sk-test-0123456789"


@contextmanager
def model_of(memory: MemoryUser, script: Callable[[Body], Answer]) -> Iterator[WireModel]:
    """A model server in a thread of its own, which the settings name."""
    ready, done = threading.Event(), threading.Event()
    served: list[WireModel] = []

    async def serve() -> None:
        async with serving_model(script) as model:
            served.append(model)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        ready.wait()
        memory.patch.setenv("DCF_MODEL", "openai:gpt-5-mini")
        memory.patch.setenv("OPENAI_API_KEY", KEY)
        memory.patch.setenv("OPENAI_BASE_URL", served[0].url)
        yield served[0]
    finally:
        done.set()
        thread.join()


def found(body: Body) -> Say:
    """An observation in each event."""
    asked = body["messages"][-1]["content"]
    (call,) = set(re.findall(r'call="([0-9a-f]+)"', asked))
    text = (
        f'<observations call="{call}"><observation call="{call}"><type>bugfix</type>'
        f"<title>Invoices are rounded once {call}</title></observation></observations>"
    )
    return Say(text, usage=(1_000, 100))


@pytest.fixture
def threads(memory: MemoryUser) -> MemoryUser:
    """A user with the threads of another program."""
    memory("threads", "sync", SAMPLES / "claude_code.jsonl")
    for name in ("DCF_EXTRACT_HOUR", "DCF_EXTRACT_DAY", "DCF_EXTRACT_QUEUE"):
        memory.patch.delenv(name, raising=False)
    memory.patch.setenv("DCF_MODEL_RETRIES", "0")
    return memory


def test_what_is_there_is_found_once(threads: MemoryUser) -> None:
    tried = threads("observations", "extract", "--only", "threads", "--dry-run", "--json")
    turns = tried.json["new_turns"]
    assert tried.code == 0 and turns > 1 and tried.json["waiting"] == 0
    with model_of(threads, found) as model:
        one = threads("observations", "extract", "--only", "threads", "--limit", 1, "--json")
        assert one.code == 0, one.err
        assert (one.json["events"], one.json["observations"], one.json["ended"]) == (1, 1, "limit")
        rest = threads("observations", "extract", "--only", "threads")
        assert rest.code == 0, rest.err
        assert f"found {turns - 1} observations in {turns - 1} events" in rest.out
        again = threads("observations", "extract", "--only", "threads", "--json")
        assert (again.json["queued"], again.json["events"]) == (0, 0)
        assert len(model.requests) == turns
    # What the provider counts is what the budgets have, with its price.
    assert again.json["hour"]["used"] == turns * 1_100
    assert again.json["day"]["cost_usd"] > 0
    listed = threads("observations", "list", "--days", 36_500, "--json").json["observations"]
    assert len(listed) == turns
    shown = threads("observations", "get", listed[0]["id"])
    assert "Found by openai:gpt-5-mini." in shown.out and "dcf://thread/" in shown.out


def test_a_refused_key_is_said_everywhere_until_it_is_another_one(threads: MemoryUser) -> None:
    script: list[Answer] = [Refuse(401, "Incorrect API key provided")]

    def refuse_once(body: Body) -> Answer:
        return script.pop() if script else found(body)

    with model_of(threads, refuse_once) as model:
        stopped = threads("observations", "extract", "--only", "threads")
        assert stopped.code == 3
        assert (
            "nobody asks it again: openai:gpt-5-mini answered 401: Incorrect API key" in stopped.err
        )
        again = threads("observations", "extract", "--only", "threads", "--json")
        assert (again.code, again.json["error"]["code"]) == (3, "extraction_stopped")
        assert again.json["stopped"]["reason"].endswith("check its key")
        assert len(model.requests) == 1
        status = threads("observations", "extract", "--status")
        assert status.code == 0 and "Stopped: openai:gpt-5-mini answered 401" in status.out
        (check,) = asyncio.run(extraction_checks(Settings.from_env(os.environ)))
        assert not check.ok and check.found.startswith("stopped: openai:gpt-5-mini")
        threads.patch.setenv("OPENAI_API_KEY", "sk-test-another")
        assert threads("observations", "extract", "--only", "threads").code == 0
        said = stopped.out + stopped.err + again.out + status.out
    assert KEY not in said


def test_what_waits_and_what_ends_it_is_said(threads: MemoryUser) -> None:
    """What a clock wrote that was ahead is not taken for a pause of years."""
    settings = Settings.from_env(os.environ)
    now = time.time_ns() // 1_000_000
    threads.patch.setenv("DCF_EXTRACT", "on")
    threads.patch.setenv("DCF_EXTRACT_DAY", "1000")

    async def ask_at(clock: int) -> None:
        source = source_in(settings)
        async with Memory.open(
            source, clock=lambda: clock, new_id=random_id, embedder="none"
        ) as to:
            await Spending(to.ledger, Limits()).reserve("m", 1_000, None)
            await to.ledger.change(SYSTEM, lambda journal: pause(journal, "busy", 3_600_000))

    def doctor() -> Check:
        (check,) = asyncio.run(extraction_checks(Settings.from_env(os.environ)))
        return check

    asyncio.run(ask_at(now + 400 * 86_400_000))
    check = doctor()
    assert "paused" not in check.found and "the clock was ahead, at 20" in check.found
    assert "1,000 of 1,000 tokens of the last day are used" in check.found
    assert "extract --resume` ends that" in check.hint and "DCF_EXTRACT_DAY" in check.hint
    asyncio.run(ask_at(now))
    assert "; paused until" in doctor().found
    with model_of(threads, found):
        threads("observations", "extract", "--only", "threads", "--resume")
    check = doctor()
    assert "paused" not in check.found and "ahead" not in check.found


def test_a_text_that_is_forbidden_keeps_no_other_from_its_turn(threads: MemoryUser) -> None:
    """As filters of content answer it, without saying so."""
    forbidden: list[str] = []

    def filtered(body: Body) -> Answer:
        asked = body["messages"][-1]["content"]
        calls = re.findall(r'call="([0-9a-f]+)"', asked)
        if not calls:
            return Say("yes", usage=(10, 1))
        forbidden[:] = forbidden or [asked.partition("\n[")[2].partition("====")[0]]
        return Refuse(403, "blocked") if forbidden[0] in asked else found(body)

    with model_of(threads, filtered):
        done = threads("observations", "extract", "--only", "threads", "--json")
        assert (done.code, done.json["error"]["code"]) == (1, "extraction_failed")
        assert (done.json["failed"], done.json["stopped"]) == (1, None)
        assert done.json["events"] == done.json["observations"] > 1


def test_who_is_forbidden_to_ask_stops(threads: MemoryUser) -> None:
    with model_of(threads, lambda _: Refuse(403, "no access to the model")) as model:
        stopped = threads("observations", "extract", "--only", "threads", "--json")
        assert (stopped.code, stopped.json["error"]["code"]) == (3, "extraction_stopped")
        assert len(model.requests) == 2


def test_a_stop_is_over_with_resume(threads: MemoryUser) -> None:
    script: list[Answer] = [Refuse(401, "Incorrect API key provided")]
    with model_of(threads, lambda body: script.pop() if script else found(body)):
        assert threads("observations", "extract", "--only", "threads").code == 3
        resumed = threads("observations", "extract", "--only", "threads", "--resume")
        assert resumed.code == 0, resumed.err


def test_a_budget_that_is_used_up_says_when_there_is_more(threads: MemoryUser) -> None:
    threads.patch.setenv("DCF_EXTRACT_HOUR", "14000")
    # A request can use its bytes and 4,096 tokens of an answer: no second one fits.
    with model_of(threads, lambda body: replace(found(body), usage=(9_000, 900))):
        done = threads("observations", "extract", "--only", "threads", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "extraction_budget")
    assert "of the last hour" in done.json["reason"]
    assert done.json["hour"]["used"] <= 14_000
    assert done.json["waiting"] > 0


def test_a_busy_provider_is_not_asked_again_at_once(threads: MemoryUser) -> None:
    busy = Refuse(429, "slow down", headers={"retry-after": "900"})
    with model_of(threads, lambda _: busy) as model:
        done = threads("observations", "extract", "--only", "threads", "--json")
        assert (done.code, done.json["error"]["code"]) == (1, "extraction_paused")
        assert "slow down" in done.json["reason"]
        assert threads("observations", "extract", "--only", "threads").code == 1
        assert len(model.requests) == 1
        status = threads("observations", "extract", "--status", "--json").json
    # As long as it asked for, at least; it was asked within the last minute.
    assert status["paused"]["until"] > (time.time() + 840) * 1000
    assert (status["waiting"], status["set_aside"]) == (done.json["waiting"], 0)


def test_nonsense_is_set_aside_and_can_be_tried_again(threads: MemoryUser) -> None:
    with model_of(threads, lambda _: Say("I would rather not.")):
        done = threads("observations", "extract", "--only", "threads", "--limit", 1, "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "extraction_failed")
    assert done.json["failed"] == 1 and done.json["set_aside"] == 0
    assert threads("observations", "extract", "--status").code == 0


def test_what_cannot_be_done_is_said(threads: MemoryUser) -> None:
    threads.patch.delenv("DCF_MODEL", raising=False)
    none = threads("observations", "extract", "--only", "threads")
    assert none.code == 2 and "no model is named that could find observations" in none.err
    wrong = threads("observations", "extract", "--only", "letters")
    assert wrong.code == 2 and "letters" in wrong.err
    for first, *others in (
        ("--status", "--retry"),
        ("--status", "--resume", "--only", "threads"),
        ("--status", "--limit", "3"),
        ("--status", "--dry-run"),
        ("--dry-run", "--limit", "3"),
        ("--dry-run", "--retry", "--resume"),
    ):
        both = threads("observations", "extract", first, *others)
        said = " ".join(both.err.split())
        assert both.code == 2 and f"has no effect with {first}" in said
        assert all(one in said for one in others if one.startswith("--"))
    threads.patch.setenv("DCF_EXTRACT_DAY", "much")
    setting = threads("observations", "extract", "--status")
    assert setting.code == 2 and "DCF_EXTRACT_DAY is 'much'" in setting.err
    threads.patch.setenv("DCF_EXTRACT_DAY", "1000")
    threads.patch.setenv("DCF_MODEL", "openai:gpt-5-mini")
    threads.patch.delenv("OPENAI_API_KEY", raising=False)
    key = threads("observations", "extract", "--only", "threads")
    assert key.code == 2 and "OPENAI_API_KEY" in key.err


def test_the_document_is_json(threads: MemoryUser) -> None:
    status = json.loads(threads("observations", "extract", "--status", "--json").out)
    assert {"waiting", "done", "set_aside", "hour", "day", "stopped", "paused"} <= status.keys()


def test_turns_of_agents_are_asked_about_without_redis(memory: MemoryUser) -> None:
    async def fill() -> None:
        source = Source(memory.file)
        async with Memory.open(source, clock=now, new_id=random_id, embedder="none") as there:
            await converse(there, await agent_of(there), turn(1))

    def now() -> int:
        return time.time_ns() // 1_000_000

    memory.home.mkdir()
    asyncio.run(fill())
    tried = memory("observations", "extract", "--only", "agents", "--dry-run")
    assert tried.out.startswith("1 turn of agents would be queued; nothing was"), tried.err
    with model_of(memory, found) as model:
        done = memory("observations", "extract", "--only", "agents", "--json")
        assert (done.code, done.json["events"], done.json["observations"]) == (0, 1, 1)
        assert "turn-0001" in model.requests[0]["messages"][-1]["content"]
    (one,) = memory("observations", "list", "--source", "agent", "--json").json["observations"]
    address = re.search(r"dcf://agent/\S+/message/1", memory("observations", "get", one["id"]).out)
    assert address is not None
    assert run_command(["open", address[0]]) == 0
    refused = memory("observations", "extract", "--only", "letters")
    assert refused.code == 2 and "runs, threads, sessions, agents" in refused.err
