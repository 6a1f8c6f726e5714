"""The example workflows as a user runs them: real Redis, the stub server as a process, two workers.

What a tool was called with is read from the stub's own log, and only the calls of one run count, so
that tests share the stub without knowing of each other.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from commands import python

from control_plane import HintQueue, RedisBackend, Store
from dcf import workflow
from dcf.agents import LocalRuntime
from dcf.planner import Market, Plan, ToolResults, compile_sop
from dcf.schema import example_of
from dcf.search import embedder_named
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch
from dcf.sop import parse
from dcf.tools import Policy, Registry, Toolbox
from dcf.worker import KeeperThread, Performer, SkilledAgents, Worker

ROOT = Path(__file__).parents[3]
WORKFLOWS = ROOT / "workflows"
SOPS = WORKFLOWS / "sops"
GENERATED = ROOT / "generated"
WORKERS = 2
_LONGEST_RUN_S = 45.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the stub saw it; ``state`` is the path of the state that made it, ``at`` in
    seconds since the epoch."""

    tool: str
    arguments: dict[str, Any]
    error: str | None
    state: str
    at: float


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that is over: its result, its tool calls in order, its audit trail."""

    status: str
    output: Any
    error: str | None
    cause: str | None
    calls: list[Call]
    folder: Path

    def called(self, tool: str) -> list[dict[str, Any]]:
        """The arguments of every call of ``tool``, in order."""
        return [call.arguments for call in self.calls if call.tool == tool]

    @property
    def effects(self) -> Counter[str]:
        """How often each tool did something: calls that it refused are left out."""
        return Counter(call.tool for call in self.calls if call.error is None)

    @property
    def refusals(self) -> Counter[tuple[str, str]]:
        """How often each tool refused with which error."""
        return Counter((call.tool, call.error) for call in self.calls if call.error is not None)

    def file(self, name: str) -> Any:
        """A JSON file of the audit trail."""
        return json.loads((self.folder / name).read_text("utf-8"))


Play = Callable[..., Awaitable[Ended]]
Decision = Literal["approve", "reject"]


@pytest.fixture(scope="session")
def catalog() -> SkillCatalog:
    """The generated skills of this project."""
    return SkillCatalog.load(GENERATED)


@pytest.fixture(scope="session")
def stub_url() -> Iterator[str]:
    """The address of the stub server, a process of its own with the generated cases."""
    config = GENERATED / "stub" / "stub_config.json"
    command = [python(), "-m", "dcf.tools.stub", "--config", str(config), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.terminate()


@pytest.fixture(scope="session")
def played() -> dict[str, Ended]:
    """The runs that were played: several tests look at one run, each could play it alone."""
    return {}


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the audit trails."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
async def play(
    redis_url: str,
    stub_url: str,
    catalog: SkillCatalog,
    played: dict[str, Ended],
    runs: Path,
) -> AsyncIterator[Play]:
    """``await play(workflow, input)`` runs a workflow of ``workflows/`` to its end.

    ``input`` is the name of a file in ``workflows/inputs/`` or the value itself; ``run_id`` is the
    run's id, on which the draws of the flaky cases depend. ``document`` is played instead of a
    file; ``answers`` has the decisions, by who is asked to approve or to do something.
    """
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(_store(redis_url))
        for number in range(WORKERS):
            await stack.enter_async_context(
                _worker(f"worker-{number}", redis_url, stub_url, catalog, number)
            )

        async def run(
            name: str,
            value: Any,
            run_id: str | None = None,
            document: workflow.WorkflowDocument | None = None,
            answers: Mapping[str, Decision] | None = None,
        ) -> Ended:
            run_id = run_id or f"{name}-{value}"
            if run_id in played:
                return deepcopy(played[run_id])
            given = read_input(value) if isinstance(value, str) else value
            document = document or load(name, catalog)
            await workflow.submit(store, document, given, workflow_id=run_id, catalog=catalog)
            async with asyncio.timeout(_LONGEST_RUN_S):
                deciding = asyncio.create_task(_decide(store, run_id, answers or {}))
                result = await workflow.wait(store, run_id, poll_s=0.02)
                await _stopped(deciding)
            folder = await workflow.write_audit_trail(store, run_id, runs, by="tests")
            failure = result.failure
            played[run_id] = Ended(
                result.status,
                result.output,
                failure.error if failure else None,
                failure.cause if failure else None,
                await asyncio.to_thread(_calls, stub_url, run_id),
                folder,
            )
            return deepcopy(played[run_id])

        yield run


def load(name: str, catalog: SkillCatalog) -> workflow.WorkflowDocument:
    """A workflow of ``workflows/``, checked against the catalog."""
    file = WORKFLOWS / f"{name}.json"
    return workflow.load(file.read_text("utf-8"), file=str(file), catalog=catalog)


@pytest.fixture(scope="session")
def plan_of(
    catalog: SkillCatalog, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Plan]:
    """The plan of a procedure of ``workflows/sops/``, by its name; compiled once."""
    search = SkillSearch(
        tmp_path_factory.mktemp("index") / "skills.db", embedder_named("wordllama")
    )
    market = Market(catalog, search, ToolResults.load(GENERATED))
    plans: dict[str, Plan] = {}

    def compiled(name: str) -> Plan:
        if name not in plans:
            [file] = SOPS.glob(f"{name}.*")
            sop = parse(file.read_text("utf-8"), file.name).sop
            assert sop is not None
            plans[name] = compile_sop(sop, market)
        return plans[name]

    return compiled


async def _decide(store: Store, run_id: str, answers: Mapping[str, Decision]) -> None:
    """Answer whatever the run asks of those who are named in ``answers``."""
    while answers:
        for asked in await workflow.pending_approvals(store, run_id):
            who = next(filter(asked.request.may_decide, answers), None)
            if who is not None:
                await workflow.answer_approval(store, asked, decision=answers[who], by=who)
        for task in await workflow.waiting_tasks(store, run_id):
            who = next(filter(task.is_for, answers), None)
            if who is not None:
                await workflow.answer_task(store, task, _said(task, who, answers[who]))
        await asyncio.sleep(0.2)


def _said(task: workflow.WaitingTask, who: str, decision: Decision) -> workflow.ManualAnswer:
    """Who approves does a task, too: the first choice, and what is reported of the right types."""
    if decision == "reject":
        return workflow.ManualAnswer("failed", who, note="it cannot be done")
    chosen = next(iter(task.manual.choices), None)
    return workflow.ManualAnswer("done", who, chosen, example_of(task.manual.result))


async def _stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def read_input(name: str) -> Any:
    """An input of ``workflows/inputs/``."""
    return json.loads((WORKFLOWS / "inputs" / f"{name}.json").read_text("utf-8"))


@asynccontextmanager
async def _store(url: str) -> AsyncIterator[Store]:
    backend = RedisBackend.from_url(url)
    try:
        yield Store(backend)
    finally:
        await backend.close()


@asynccontextmanager
async def _worker(
    name: str, redis_url: str, stub_url: str, catalog: SkillCatalog, seed: int
) -> AsyncIterator[None]:
    registry = Registry.load(GENERATED / "registry.json", {"DCF_STUB_URL": stub_url})
    hints = RedisBackend.from_url(redis_url)
    async with _store(redis_url) as store, Toolbox(registry) as toolbox:
        keeping = KeeperThread(lambda: Store(RedisBackend.from_url(redis_url)))
        with keeping as keeper_thread:
            worker = Worker(
                name,
                store,
                HintQueue(hints, pool="default", consumer=name),
                keeper_thread.keeper,
                workflow.Choreographer(store, rng=random.Random(seed)),
                Performer(
                    agents=SkilledAgents(
                        catalog,
                        toolbox,
                        LocalRuntime(),
                        store,
                        policy=Policy.load(GENERATED / "policy.json"),
                    )
                ),
                now=time.monotonic,
            )
            working = asyncio.create_task(worker.run())
            yield
            worker.drain()
            await working
    await hints.close()


def _calls(stub_url: str, run_id: str) -> list[Call]:
    """What the run called, oldest first; a repetition that was answered from memory is left out."""
    with urllib.request.urlopen(f"{stub_url}/calls", timeout=10) as response:
        lines = json.load(response)["calls"]
    return [
        Call(
            line["tool"],
            line["arguments"],
            line["error"],
            line["idempotency_key"].split("/", 1)[1].rsplit("/", 3)[0],
            line["at"],
        )
        for line in lines
        if (line["idempotency_key"] or "").startswith(f"{run_id}/") and not line["replayed"]
    ]
