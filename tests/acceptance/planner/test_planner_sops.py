"""Every procedure of the repository becomes a workflow that validates, draws and tells its steps
again; how they run is in acceptance/workflows."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from planned_sops import GENERATED, SOPS, Planned, plan_of

from control_plane import HintQueue, RedisBackend, Store
from dcf import workflow
from dcf.agents import LocalRuntime
from dcf.diagram import arrange, read_chart, to_svg
from dcf.planner import Market, compile_sop, decompile
from dcf.skills import SkillCatalog
from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Direction,
    Finish,
    GoTo,
    Not,
    Step,
    Stop,
    parse,
)
from dcf.tools import Policy, Registry, Toolbox
from dcf.worker import KeeperThread, Performer, SkilledAgents, Worker

ORDER = {
    "order_id": "ORD-1001",
    "customer_id": "CUST-1003",
    "items": [{"sku": "TABLE-OAK", "quantity": 1}],
    "currency": "EUR",
}
NAMES = [file.name for file in SOPS]
REFUND = """# Give the money back

## Objective

The customer of a broken thing has the money back, and knows it.

## Inputs

- `order_id` (string)
- `customer_id` (string)
- `items` (array of object)
  - `sku` (string)
  - `quantity` (integer)
- `currency` (string)

## Outputs

- `amount_cents` (integer)
- `channels` (array)

## Steps

1. Work out what the customer paid
   - Skill: orders.price_order
   - Writes: `amount_cents`
2. Is it more than we pay unasked?
   - If `amount_cents` is over 100, continue
   - Otherwise go to step 4
3. Ask the head of the desk
   - Kind: approval
   - Approval: head
4. Tell everybody
   - For each `line` in `items`
   - Writes: `channel` as `channels`
   1. Tell the customer what happened to the order
      - Reads: `customer_id`, `order_id`
      - Writes: `channel`
"""


@pytest.mark.parametrize("name", NAMES)
def test_it_compiles_to_a_document_without_problems(
    name: str, planned: dict[str, Planned], catalog: SkillCatalog
) -> None:
    found = planned[name]

    assert found.plan.problems == ()
    assert workflow.validate(found.document, catalog=catalog) == []
    assert [step.number for step in found.plan.steps] == [s.number for s in found.sop.all_steps()]


@pytest.mark.parametrize("name", NAMES)
def test_it_draws_every_state(name: str, planned: dict[str, Planned]) -> None:
    found = planned[name]
    chart = read_chart(found.document)

    svg = to_svg(arrange(chart), chart.machine.title)

    assert chart.problems == ()
    assert all(f">{state}<" in svg or state[:12] in svg for state in _states(found))


@pytest.mark.parametrize("name", NAMES)
def test_it_decompiles_to_the_same_steps(name: str, planned: dict[str, Planned]) -> None:
    found = planned[name]

    told = decompile(found.document)

    assert told.origin == "unchanged"
    assert told.sop.steps == found.sop.steps


@pytest.mark.parametrize("name", NAMES)
def test_its_states_alone_tell_the_same_steps(name: str, planned: dict[str, Planned]) -> None:
    """Without the procedure that the document carries, so from what a run goes by."""
    found = planned[name]
    states = {key: value for key, value in found.document.items() if key != "plan"}

    told = decompile(states)

    assert told.origin == "foreign"
    written, read = list(found.sop.all_steps()), list(told.sop.all_steps())
    assert [one.kind for one in read] == [one.kind for one in written]
    for step, back, plan in zip(written, read, found.plan.steps, strict=True):
        same = (
            "title",
            "text",
            "retries",
            "approval",
            "loop",
            "wait",
            "deadline",
            "tier",
            "budget",
        )
        for member in same:
            assert getattr(back, member) == getattr(step, member), (step.number, member)
        assert back.skills == plan.skills
        assert {one.target: one.source for one in back.reads} == dict(plan.given)
        # A parallel step writes what the steps inside it write.
        kept = set() if step.kind == "parallel" else set(plan.writes)
        assert {one.target for one in back.writes} == kept
    assert _targets(told.sop.steps) == _targets(found.sop.steps)


def test_the_same_procedure_gives_the_same_bytes(market: Market) -> None:
    found = parse(REFUND, "refund.md").sop
    assert found is not None

    texts = {json.dumps(compile_sop(found, market).document) for _ in range(2)}

    assert len(texts) == 1


ASKED = """3. Ask the head of the desk
   - Approval: head
   - Within {limit}
   - If rejected, stop with Refused: "the head said no"
   - If nobody answers in time, stop with Silent: "the head is away"
"""


@pytest.mark.timeout(60)
async def test_an_approval_means_in_the_run_what_the_procedure_says(
    market: Market, catalog: SkillCatalog, redis_url: str, stub_url: str
) -> None:
    limits = {"approve": "1 hour", "reject": "1 hour", "silent": "1 second"}
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(_store(redis_url))
        await stack.enter_async_context(_worker(0, redis_url, stub_url, catalog))
        for run_id, limit in limits.items():
            head, rest = REFUND.split("3. Ask")
            tail = rest[rest.index("4. Tell") :]
            text = head + ASKED.format(limit=limit) + tail
            document = workflow.load(
                json.dumps(plan_of(text, run_id, market).document), file=run_id, catalog=catalog
            )
            await workflow.submit(store, document, ORDER, workflow_id=run_id, catalog=catalog)
        answering = asyncio.create_task(_answer(store))
        async with asyncio.timeout(45):
            results = {run: await workflow.wait(store, run, poll_s=0.05) for run in limits}
        answering.cancel()

    assert results["approve"].output == {"amount_cents": 12900, "channels": ["email"]}
    failures = {run: results[run].failure for run in ("reject", "silent")}
    assert {run: (one.error, one.cause) for run, one in failures.items() if one} == {
        "reject": ("Refused", "the head said no"),
        "silent": ("Silent", "the head is away"),
    }


async def _answer(store: Store) -> None:
    """Answer every question as its run is called; the silent one's is left."""
    while True:
        for asked in await workflow.pending_approvals(store):
            if asked.workflow_id != "silent":
                await workflow.answer_approval(
                    store,
                    asked,
                    decision="approve" if asked.workflow_id == "approve" else "reject",
                    by=asked.request.people[0],
                )
        await asyncio.sleep(0.1)


def _targets(steps: tuple[Step, ...]) -> list[object]:
    """Where each step goes on, and when: steps by their place in reading order."""
    places = {step.number: at for at, step in enumerate(steps)}

    def to(direction: Direction, at: int) -> object:
        if isinstance(direction, Stop):
            return direction.error, direction.cause
        if isinstance(direction, GoTo):
            return places[direction.step]
        return "end" if isinstance(direction, Finish) or at + 1 == len(steps) else at + 1

    found: list[object] = []
    for at, step in enumerate(steps):
        caught = {name: to(one.then, at) for one in step.handlers for name in one.errors or ("",)}
        if step.kind == "approval" and "DCF.ApprovalRejected" in caught and "" not in caught:
            # Nobody's answer is taken as a refusal where nothing else is said.
            caught.setdefault("States.Timeout", caught["DCF.ApprovalRejected"])
        branches = [(_plain(one.condition), to(one.then, at)) for one in step.branches]
        lanes = [_targets(lane.steps) for lane in step.lanes]
        found.append((branches, to(step.then, at), caught, _targets(step.steps), lanes))
    return found


def _plain(condition: Condition) -> Condition:
    """``not a = b`` and ``a != b`` ask the same."""
    match condition:
        case Not(Comparison(left, "==", right)):
            return Comparison(left, "!=", right)
        case AllOf(parts) | AnyOf(parts):
            return type(condition)(tuple(_plain(part) for part in parts))
    return condition


def _states(found: Planned) -> list[str]:
    return [state for step in found.plan.steps for state in step.states]


@asynccontextmanager
async def _store(url: str) -> AsyncIterator[Store]:
    backend = RedisBackend.from_url(url)
    try:
        yield Store(backend)
    finally:
        await backend.close()


@asynccontextmanager
async def _worker(
    number: int, redis_url: str, stub_url: str, catalog: SkillCatalog
) -> AsyncIterator[None]:
    name = f"worker-{number}"
    registry = Registry.load(GENERATED / "registry.json", {"DCF_STUB_URL": stub_url})
    hints = RedisBackend.from_url(redis_url)
    async with _store(redis_url) as store, Toolbox(registry) as toolbox:
        with KeeperThread(lambda: Store(RedisBackend.from_url(redis_url))) as keeper_thread:
            agents = SkilledAgents(
                catalog,
                toolbox,
                LocalRuntime(),
                store,
                policy=Policy.load(GENERATED / "policy.json"),
            )
            worker = Worker(
                name,
                store,
                HintQueue(hints, pool="default", consumer=name),
                keeper_thread.keeper,
                workflow.Choreographer(store, rng=random.Random(number)),
                Performer(agents=agents),
                now=time.monotonic,
            )
            working = asyncio.create_task(worker.run())
            yield
            worker.drain()
            await working
    await hints.close()
