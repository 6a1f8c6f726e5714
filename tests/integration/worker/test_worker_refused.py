"""A run lives through each refusal of a real Redis: it succeeds, each effect is there once, and no
Catch or Retry of its definition hears of it. What Redis refuses for good ends a worker."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from integration.tools.conftest import serving_app
from integration.worker.crew import crew_on
from integration.worker.test_worker_on_redis import skill_with
from refusing_server import RefusingServer, between
from unit.workflow.stage import document_of, flow, mapping, task

from control_plane import Disconnected, RefusedForGood, Store, history, keys
from dcf.agents import LocalRuntime
from dcf.cli.trouble import explain_error
from dcf.skills import SkillCatalog, SkillTool
from dcf.tools import Registry, ServerConfig, Toolbox
from dcf.tools.stub import create_stub_app
from dcf.worker import Post, SkilledAgents, current_work, serve
from dcf.workflow import submit

REAL = ("OOM", "NOREPLICAS", "READONLY", "MASTERDOWN", "MISCONF", "BUSY", "MAXCLIENTS")
SAID = {
    "LOADING": "LOADING Redis is loading the dataset in memory",
    "CLUSTERDOWN": "CLUSTERDOWN The cluster is down",
    "TRYAGAIN": "TRYAGAIN Multiple keys request during rehashing of slot",
}
ANYTHING = [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]


@pytest.fixture
def refused_commit(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when a commit did not get through."""
    refused, commit = asyncio.Event(), Store.commit

    async def watched(self: Store, *args: Any, **options: Any) -> Any:
        try:
            return await commit(self, *args, **options)
        except Disconnected:
            refused.set()
            raise

    monkeypatch.setattr(Store, "commit", watched)
    return refused


class Effects:
    """Two states of work; the first waits until it may go on."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.began, self.go_on = asyncio.Event(), asyncio.Event()

    async def work(self, given: Any) -> Any:
        self.keys.append(current_work().idempotency_key)
        self.began.set()
        await self.go_on.wait()
        return given

    @property
    def definition(self) -> dict[str, Any]:
        return flow(
            A=task(Catch=ANYTHING, Retry=[{"ErrorEquals": ["States.ALL"]}]),
            M=mapping(flow(B=task()), Catch=ANYTHING),
            Done={"Type": "Succeed"},
            Caught={"Type": "Fail", "Error": "Caught"},
        )


async def _until(there: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not there():
            await asyncio.sleep(0.01)


async def lived_through(
    url: str, effects: Effects, refused: asyncio.Event, said: Any, **config: Any
) -> int:
    """Have ``said`` refuse while work is under way and until its commit was refused; how often the
    first state was leased."""
    async with crew_on(url) as crew:
        worker = crew.worker({"work": effects.work}, **config)
        await submit(crew.store, document_of(effects.definition), [1, 2, 3], workflow_id="r")
        await effects.began.wait()
        with said:
            effects.go_on.set()
            await asyncio.wait_for(refused.wait(), 20)
        result = await crew.end("r")
        assert (result.status, result.output) == ("succeeded", [1, 2, 3])
        state = (await crew.store.states("r", ["A"]))["A"]
        assert not worker.is_draining
    return state.attempts


@pytest.mark.parametrize("code", REAL)
async def test_work_that_is_done_is_committed_when_writes_are_taken_again(
    redis: RefusingServer, code: str, refused_commit: asyncio.Event
) -> None:
    effects = Effects()
    attempts = await lived_through(redis.url, effects, refused_commit, redis.refusing[code]())
    assert (attempts, len(effects.keys), len(set(effects.keys))) == (1, 4, 4)


class _Saying:
    def __init__(self, there: Any, text: str) -> None:
        self._there, self._text = there, text

    def __enter__(self) -> None:
        self._there.says = self._text

    def __exit__(self, *_: object) -> None:
        self._there.says = None


@pytest.mark.parametrize("code", SAID)
async def test_so_is_it_when_the_refusal_cannot_be_made_here(
    redis: RefusingServer, code: str, refused_commit: asyncio.Event
) -> None:
    effects = Effects()
    async with between(redis.port) as there:
        saying = _Saying(there, SAID[code])
        attempts = await lived_through(there.url, effects, refused_commit, saying)
    assert (attempts, len(effects.keys), len(set(effects.keys))) == (1, 4, 4)


@pytest.mark.parametrize("step", ["note", "put_blob", "commit"])
async def test_a_tool_is_called_once_though_what_stands_around_its_call_is_refused(
    redis: RefusingServer, step: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before the call its number is taken, after it a large answer is kept."""
    refused = 0
    original = getattr(Store, step)

    async def refused_first(self: Store, *args: Any, **options: Any) -> Any:
        nonlocal refused
        if refused:
            return await original(self, *args, **options)
        with redis.refusing["OOM"]():
            try:
                return await original(self, *args, **options)
            except Disconnected:
                refused += 1
                raise

    config = tmp_path / "stub_config.json"
    text = {"defaultResponse": "x" * 400_000}
    config.write_text(json.dumps({"seed": 1, "servers": {"math": {"tools": {"text": text}}}}))
    tool = SkillTool("math", "text", "text", "", False, {"type": "object"})
    catalog = SkillCatalog([skill_with(tool)])
    binding = {
        "agent_template_ref": {"name": "any"},
        "skills": ["counting@1.0.0"],
        "tool_name": "text",
    }
    definition = flow(
        A={"Type": "Task", "AgentBinding": binding, "Catch": ANYTHING},
        Done={"Type": "Succeed"},
        Caught={"Type": "Fail", "Error": "Caught"},
    )
    async with crew_on(redis.url) as crew, serving_app(create_stub_app(config)) as address:
        server = ServerConfig("math", url=f"{address}/mcp/math", retries=0)
        async with Toolbox(Registry([server])) as toolbox:
            document = document_of(definition, catalog=catalog)
            await submit(crew.store, document, {}, workflow_id="r", catalog=catalog)
            monkeypatch.setattr(Store, step, refused_first)
            crew.worker(agents=SkilledAgents(catalog, toolbox, LocalRuntime(), crew.store))
            result = await crew.end("r")
        state = (await crew.store.states("r", ["A"]))["A"]
        events = [event.event["type"] async for event in history.read(crew.store, "r")]
    assert (result.status, refused, state.attempts) == ("succeeded", 1, 1)
    assert events.count("ToolDecision") == 1


async def test_work_whose_renewal_was_refused_for_long_is_taken_up_again(
    redis: RefusingServer, caplog: pytest.LogCaptureFixture
) -> None:
    effects = Effects()
    async with crew_on(redis.url) as crew:
        worker = crew.worker({"work": effects.work}, ttl_ms=300)
        await submit(crew.store, document_of(effects.definition), [1], workflow_id="r")
        await effects.began.wait()
        caplog.set_level(logging.INFO)
        with redis.refusing["OOM"]():
            gap = worker._store.gap
            await _until(lambda: "gave up A" in caplog.text and gap.ago_ms() != {})
        effects.go_on.set()
        result = await crew.end("r")
        assert (result.status, result.output) == ("succeeded", [1])
        state = (await crew.store.states("r", ["A"]))["A"]
    # Nobody died: it is no suspect.
    assert state.takeovers > 0 and "deaths" not in state.raw["ctl"]
    # Done twice under one key, by which whoever does the effect knows it again.
    assert len(set(effects.keys)) == 2 < len(effects.keys)


async def test_a_worker_says_once_that_it_waits_and_once_that_it_is_over(
    redis: RefusingServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with crew_on(redis.url) as crew:
        crew.worker(sweep_s=0.05)
        await _until(lambda: redis.admin.exists("cp:accepted:{cp:wf:index}") == 1)
        with redis.refusing["OOM"]():
            refused = _refused(redis)
            await _until(lambda: _refused(redis) > refused + 5)
        await _until(lambda: "serves again" in caplog.text)
    lines = [record.getMessage() for record in caplog.records]
    assert [line for line in lines if "refuses" in line] == [
        "w1: Redis refuses writes: out of memory; waiting for it"
    ]
    assert len([line for line in lines if "serves again" in line]) == 1


def _refused(redis: RefusingServer) -> int:
    """How often it was out of memory."""
    found = redis.admin.info("errorstats").get("errorstat_OOM", {"count": 0})
    return int(found["count"])


async def test_a_worker_that_may_not_work_here_ends_and_says_why(redis: RefusingServer) -> None:
    redis.admin.execute_command("ACL", "SETUSER", "ada", "on", ">secret", "~*", "+@all")
    url = redis.url.replace("//", "//ada:secret@")

    def ready() -> None:
        redis.admin.execute_command("ACL", "SETUSER", "ada", "-json.set", "-set", "-zadd")

    with pytest.raises(RefusedForGood) as refused:
        await serve(Post(url, "w1"), on_ready=ready)
    trouble = explain_error(refused.value)
    assert trouble is not None
    answer = trouble.to_answer()
    assert answer.exit_code == 3
    assert trouble.message.startswith(f"Redis at {redis.url} refuses to work for DCF: its access")
    assert "\n" not in trouble.message and "secret" not in trouble.message
    assert "ACL SETUSER" in trouble.hint


async def test_a_worker_that_starts_while_writes_are_refused_works_when_they_are_taken(
    redis: RefusingServer,
) -> None:
    ready = asyncio.Event()

    async def work(given: Any) -> Any:
        return given

    async with crew_on(redis.url) as crew:
        await submit(crew.store, document_of(flow(A=task())), 7, workflow_id="r")
        with redis.refusing["OOM"]():
            post = Post(redis.url, "w1", handlers={"work": work})
            serving = asyncio.create_task(serve(post, on_ready=ready.set))
            await ready.wait()
        assert (await crew.end("r", 40)).output == 7
        os.kill(os.getpid(), signal.SIGTERM)
        assert await serving


async def test_a_key_that_is_somebody_elses_ends_a_worker(redis: RefusingServer) -> None:
    redis.admin.set("cp:wf:index", "a text")
    with pytest.raises(Exception, match="WRONGTYPE") as ended:
        await serve(Post(redis.url, "w1"), on_ready=lambda: None)
    trouble = explain_error(ended.value)
    assert trouble is not None and "of its own" in trouble.hint


async def test_a_damaged_run_ends_no_worker(
    redis: RefusingServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(given: Any) -> Any:
        return given

    async with crew_on(redis.url) as crew:
        for run in ("damaged", "r"):
            await submit(crew.store, document_of(flow(A=task())), 7, workflow_id=run)
        redis.admin.delete("cp:wf:damaged:meta")
        redis.admin.set("cp:wf:damaged:meta", "a text")
        # Its first look is at all runs, as where an older version has worked.
        redis.admin.delete(keys.RUNS_FILLED)
        worker = crew.worker({"work": work})
        assert (await crew.end("r")).output == 7
        await _until(lambda: "run damaged cannot be listed" in caplog.text)
        await submit(crew.store, document_of(flow(A=task())), 8, workflow_id="r-2")
        assert (await crew.end("r-2")).output == 8
        assert not worker.is_draining
