"""From the documents of a run, made by real workers on the twin, to outcomes and run facts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    document_of,
    flow,
    mapping,
    parallel,
    passing,
    retry,
    staged,
    task,
)

from control_plane import Store
from dcf.knowledge import Outcome, Privacy, RunFact, ToolUse
from dcf.knowledge.reading import RunReader
from dcf.knowledge.telling import tell_outcome
from dcf.worker import TaskFailure
from dcf.workflow import (
    Failed,
    Succeeded,
    Task,
    answer_approval,
    finalize,
    pending_approvals,
    redrive,
    submit,
)
from dcf.workflow import Outcome as Work

SPENT = {"estimated_cost_usd": 0.25, "total_tokens": 100, "tool_calls": 2, "tier_escalated": True}
CHOSEN = {"tier": 2, "fcs": 31.5, "model": "small"}


class Agents:
    """Performs Tasks with a binding; ``broken`` states fail."""

    def __init__(self, *broken: str) -> None:
        self.broken = set(broken)

    async def perform(self, given: Task, _beat: Any) -> Work:
        if given.state.name in self.broken:
            return Failed("Boom", "mail ann@mail.example", metrics=SPENT, model_selection=CHOSEN)
        return Succeeded("ok", metrics=SPENT, model_selection=CHOSEN)


def bound(*skills: str, **more: Any) -> dict[str, Any]:
    binding = {"agent_template_ref": {"name": "worker"}, "skills": list(skills), **more}
    return {"Type": "Task", "AgentBinding": binding}


async def read(store: Store) -> tuple[RunFact, dict[str, Outcome]]:
    await finalize(store, RUN, by="test")
    reader, run = RunReader(store, Privacy()), await store.run(RUN)
    *outcomes, fact = [told async for told in reader.tell(run)]
    assert isinstance(fact, RunFact)
    assert [one for one in outcomes if isinstance(one, RunFact)] == []
    return fact, {f"{one.path}#{one.visit}": one for one in outcomes if isinstance(one, Outcome)}


@staged
async def test_a_task_tells_what_it_used_and_what_it_was_bound_to(stage: Stage) -> None:
    await stage.play(flow(Pay=bound("skill.orders.pay@1.2.0"), End=passing()), agents=Agents())
    fact, outcomes = await read(stage.store)
    (pay,) = outcomes.values()
    document = await stage.state("Pay")
    assert (pay.path, pay.state, pay.visit, pay.tries, pay.status) == ("Pay", "Pay", 1, 1, "done")
    assert pay.skills == ("skill.orders.pay@1.2.0",)
    assert (pay.task_type, pay.agent) == ("orders.pay", "worker")
    assert (pay.cost_usd, pay.tokens, pay.tool_calls) == (0.25, 100, 2)
    assert (pay.tier, pay.fcs, pay.escalated, pay.model) == (2, 31.5, True, "small")
    assert (pay.error, pay.cause) == (None, None)
    assert (pay.started_at, pay.ended_at) == (
        document.times["started"],
        document.times["finished"],
    )
    assert (fact.status, fact.redrives, fact.cost_usd, fact.tokens) == ("succeeded", 0, 0.25, 100)
    assert fact.states == {"done": 2, "total": 2}


@staged
async def test_a_task_tells_why_its_plan_took_its_skills(stage: Stage) -> None:
    stage.worker(agents=Agents())
    steps = [
        {
            "states": ["A"], "why": "the newest version",
            "runners_up": [{"skill": "skill.orders.pay@1.1.0", "score": 0.5}],
        },
        {"states": ["B"], "skills": []},
    ]  # fmt: skip
    document = document_of(flow(A=bound("orders.pay"), B=bound("x"), C=bound("y")))
    planned = replace(document, raw={**document.raw, "plan": {"steps": steps}})
    await submit(stage.store, planned, None, workflow_id=RUN)
    await stage.end()
    _, outcomes = await read(stage.store)
    assert {one.state: one.chosen for one in outcomes.values()} == {
        "A": "the newest version; next: skill.orders.pay@1.1.0", "B": None, "C": None,
    }  # fmt: skip


@staged
async def test_a_reference_without_a_version_is_what_the_run_was_pinned_to(stage: Stage) -> None:
    definition = flow(A=bound("orders.pay@^1"), B=bound("skill.orders.pay"), C=bound("unknown"))
    stage.worker(agents=Agents())
    pins = {
        "skill.orders.pay@1.2.0": "d", "skill.orders.pay@1.10.0": "d",
        "skill.orders.pay@2.0.0": "d", "tool:pay:charge": "d",
    }  # fmt: skip
    await submit(stage.store, document_of(definition), None, workflow_id=RUN, pins=pins)
    await stage.end()
    _, outcomes = await read(stage.store)
    assert outcomes["A#1"].skills == ("skill.orders.pay@1.10.0",)
    assert outcomes["B#1"].skills == ("skill.orders.pay@2.0.0",)
    assert outcomes["C#1"].skills == ("unknown",)


@staged
async def test_a_run_says_the_session_that_it_was_delegated_in(stage: Stage) -> None:
    stage.worker(agents=Agents())
    pins = {"skill.orders.pay@1.2.0": "d", "session": "help-1"}
    definition = flow(A=bound("orders.pay"), B=bound("session"))
    await submit(stage.store, document_of(definition), None, workflow_id=RUN, pins=pins)
    await stage.end()
    _, outcomes = await read(stage.store)
    assert {one.session for one in outcomes.values()} == {"help-1"}
    assert [one.skills for one in outcomes.values()] == [
        ("skill.orders.pay@1.2.0",), ("session",),
    ]  # fmt: skip


@staged
async def test_the_time_of_an_approval_is_how_long_somebody_was_waited_for(stage: Stage) -> None:
    asked = {"task_type": "approval", "approval": {"required": True, "only": True}}
    stage.worker(agents=Agents())
    definition = flow(Ask={"Type": "Task", "AgentBinding": asked})
    await submit(stage.store, document_of(definition), None, workflow_id=RUN)
    while not (pending := await pending_approvals(stage.store, RUN)):
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    await answer_approval(stage.store, pending[0], decision="approve", by="operator")
    await stage.end()
    _, outcomes = await read(stage.store)
    times = (await stage.state("Ask")).times
    assert outcomes["Ask#1"].started_at == times["entered"]
    assert outcomes["Ask#1"].duration_ms >= 300
    (approval,) = outcomes["Ask#1"].approvals
    assert (approval.by, approval.decision) == ("operator", "approve")
    assert approval.waited_ms >= 300
    assert times["entered"] < approval.at <= times["finished"]


@staged
async def test_the_tools_that_a_task_called_are_told_with_what_failed(stage: Stage) -> None:
    decided = {"type": "ToolDecision", "tool": "bank:pay", "verdict": "allow"}
    failed = {"type": "ToolFailed", "tool": "bank:pay", "error": "CardDeclined"}

    class Calling:
        """Says in the history what a worker's ledger says."""

        async def perform(self, given: Task, _beat: Any) -> Work:
            place = {"path": given.lease.path, "visit": given.lease.visit, "try": 1}
            denied = {**decided, "tool": "bank:rob", "verdict": "deny"}
            for event in (decided, failed, decided, denied, {**decided, "tool": "post:send"}):
                await stage.store.note(given.lease, {**event, **place}, {})
            return Succeeded("ok")

    await stage.play(flow(Pay=bound("orders.pay"), Ship=bound("x")), agents=Calling())
    _, outcomes = await read(stage.store)
    told = (ToolUse("bank:pay", 2, 1), ToolUse("post:send", 1, 0))
    assert (outcomes["Pay#1"].tools, outcomes["Ship#1"].tools) == (told, told)
    assert Outcome.from_json(outcomes["Pay#1"].to_json()) == outcomes["Pay#1"]


@staged
async def test_without_a_skill_the_state_is_the_kind_of_task(stage: Stage) -> None:
    await stage.play(flow(Count=task()), handlers={"work": Calls()})
    _, outcomes = await read(stage.store)
    assert (outcomes["Count#1"].task_type, outcomes["Count#1"].skills) == ("Count", ())
    assert outcomes["Count#1"].agent is None


@staged
async def test_a_failure_that_was_caught_is_a_failure_of_the_task(stage: Stage) -> None:
    definition = flow(A=bound("s@1.0.0") | catch("B"), B=passing())
    await stage.play(definition, agents=Agents("A"))
    fact, outcomes = await read(stage.store)
    assert fact.status == "succeeded"
    failed = outcomes["A#1"]
    assert (failed.status, failed.error, failed.cause) == ("failed", "Boom", "mail [email]")


@staged
async def test_tries_that_failed_before_it_was_done_are_counted(stage: Stage) -> None:
    answers = [TaskFailure("Flaky", ""), TaskFailure("Flaky", ""), "done"]
    work = Calls(lambda _given: answers.pop(0))
    definition = flow(A=task(**retry(IntervalSeconds=1, MaxAttempts=3)))
    await stage.play(definition, handlers={"work": work})
    _, outcomes = await read(stage.store)
    assert (outcomes["A#1"].tries, outcomes["A#1"].status) == (3, "done")


@staged
async def test_a_failure_that_was_caught_after_tries_in_vain_is_one(stage: Stage) -> None:
    again = retry("Boom", IntervalSeconds=1, MaxAttempts=2)
    definition = flow(A=bound("s@1.0.0") | again | catch("B"), B=passing())
    await stage.play(definition, agents=Agents("A"))
    _, outcomes = await read(stage.store)
    assert (outcomes["A#1"].tries, outcomes["A#1"].status) == (3, "failed")
    assert outcomes["A#1"].cost_usd == 0.75


@staged
async def test_iterations_and_branches_are_outcomes_of_their_own(stage: Stage) -> None:
    definition = flow(
        Fan=mapping(flow(Each=bound("each@1.0.0")), ItemsPath="$.items"),
        Both=parallel(flow(Left=bound("left@1.0.0")), flow(Right=bound("right@1.0.0"))),
    )
    await stage.play(definition, {"items": [1, 2]}, agents=Agents())
    _, outcomes = await read(stage.store)
    assert {path: one.skills for path, one in outcomes.items()} == {
        "Fan[0]/Each#1": ("each@1.0.0",),
        "Fan[1]/Each#1": ("each@1.0.0",),
        "Both[0]/Left#1": ("left@1.0.0",),
        "Both[1]/Right#1": ("right@1.0.0",),
    }
    assert {one.state for one in outcomes.values()} == {"Each", "Left", "Right"}


@staged
async def test_a_redrive_keeps_what_failed_before_and_tells_a_new_end(stage: Stage) -> None:
    agents = Agents("B")
    await stage.play(flow(A=bound("a@1.0.0"), B=bound("b@1.0.0")), agents=agents)
    before, first = await read(stage.store)
    agents.broken.clear()
    await redrive(stage.store, RUN)
    await stage.end()
    after, second = await read(stage.store)
    assert (before.status, before.redrives) == ("failed", 0)
    assert (after.status, after.redrives) == ("succeeded", 1)
    assert before.run == after.run
    assert before.id != after.id
    assert {key: one.status for key, one in second.items()} == {
        "A#1": "done", "B#1": "failed", "B#2": "done"
    }  # fmt: skip
    assert second["A#1"] == first["A#1"]
    assert second["B#1"] == first["B#1"]


@staged
async def test_names_of_states_are_told_without_what_finds_a_person(stage: Stage) -> None:
    first, second = "Call +49 170 1234567", "Call +49 170 7654321"
    each = flow(**{"Ask ann@mail.example": bound("b@1.0.0")})
    definition = flow(**{first: mapping(each, ItemsPath="$.items"), second: bound("a@1.0.0")})
    await stage.play(definition, {"items": [1]}, agents=Agents())
    _, outcomes = await read(stage.store)
    assert {path: (one.state, one.skills) for path, one in outcomes.items()} == {
        # Paths are encoded, so that they can be read again.
        "Call %5Bphone%5D (1)[0]/Ask %5Bemail%5D (1)#1": ("Ask [email] (1)", ("b@1.0.0",)),
        "Call %5Bphone%5D (2)#1": ("Call [phone] (2)", ("a@1.0.0",)),
    }
    told = [tell_outcome(one) for one in outcomes.values()]
    for kept in ("170", "ann@", "ann%40"):
        assert kept not in str(told)


@staged
async def test_the_binding_may_say_what_kind_of_task_it_is(stage: Stage) -> None:
    definition = flow(A=bound("a@1.0.0", task_type="charge"))
    await stage.play(definition, agents=Agents())
    _, outcomes = await read(stage.store)
    assert outcomes["A#1"].task_type == "charge"


@staged
async def test_what_was_told_can_be_written_down_and_read_again(stage: Stage) -> None:
    await stage.play(flow(A=bound("a@1.0.0")), agents=Agents("A"))
    fact, outcomes = await read(stage.store)
    assert RunFact.from_json(fact.to_json()) == fact
    assert Outcome.from_json(outcomes["A#1"].to_json()) == outcomes["A#1"]
    assert (fact.error, fact.cause) == ("Boom", "mail [email]")
