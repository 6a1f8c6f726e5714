"""A user's machine in the simulated world: what it is held against, and what is noticed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from campaigns import SIMULATED, settled

from dcf.asl.trial import MockTrouble
from dcf.simulation import Undecided, Unsimulable, WorkflowWorld

pytestmark = settled(*SIMULATED)

FORTNIGHT_S = 14 * 24 * 3600


def task(resource: str, **fields: Any) -> dict[str, Any]:
    return {"Type": "Task", "Resource": resource, **fields}


def chain(**states: dict[str, Any]) -> dict[str, Any]:
    """A machine whose states follow each other, unless they say where they go."""
    names = list(states)
    for name, following in zip(names, [*names[1:], None], strict=True):
        goes = {"Next": following} if following else {"End": True}
        if states[name]["Type"] not in ("Choice", "Fail", "Succeed"):
            states[name] = {**goes, **states[name]}
    return {"StartAt": names[0], "States": states}


def world(
    definition: dict[str, Any],
    mocks: dict[str, Any] | None = None,
    value: Any = None,
    **invariants: str,
) -> WorkflowWorld:
    return WorkflowWorld(
        name="order.asl.json",
        raw=json.dumps(definition),
        input=json.dumps({} if value is None else value),
        mocks=json.dumps(mocks or {}),
        invariants=tuple(invariants.items()),
        options=" --workflow order.asl.json",
    )


PAY = task("bank:pay", Retry=[{"ErrorEquals": ["Busy"], "MaxAttempts": 3}], ResultPath="$.paid")
EACH = {
    "Type": "Map",
    "ItemsPath": "$.items",
    "ItemProcessor": chain(Ship=task("ship", ResultPath="$.sent")),
    "ResultPath": "$.each",
}
ASK = task(
    "ask.waitForTaskToken",
    Parameters={"token.$": "$$.Task.Token"},
    HeartbeatSeconds=50_000,
    ResultPath="$.answer",
)
ORDER = chain(
    Pay=PAY,
    Rest={"Type": "Wait", "Seconds": FORTNIGHT_S},
    Each=EACH,
    Ask=ASK,
    Both={
        "Type": "Parallel",
        "ResultPath": "$.both",
        "Branches": [
            chain(Slow=task("slow")),
            chain(
                Sum={"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% 2 + 3 %}"},
            ),
        ],
    },
)
MOCKS = {
    "states": {
        "Pay": [{"error": "Busy", "after": 2}, {"return": {"ok": True}, "after": 3}],
        "Ship": {"echo": True},
        "Ask": {"return": "yes", "after": 86_400},
        "Slow": {"return": [], "after": 20},
    }
}
ITEMS = {"items": [{"n": 1}, {"n": 2}, {"n": 3}]}


@pytest.mark.parametrize("seed", range(4))
def test_a_run_ends_as_the_interpreter_says_and_weeks_pass_at_once(seed: int) -> None:
    shipped = "$count($distinct($calls[state = 'Ship'].key)) = 3"
    end = "$status = 'succeeded' and $output.answer = 'yes' and $output.both[1] = 5"
    waited = "$events[type = 'RunEnded'].at > 1209600 + 86400"
    about = world(ORDER, MOCKS, ITEMS, shipped=shipped, end=end, waited=waited)

    verdict = about.simulate(seed, steps=2_000)

    assert [*map(str, verdict.violations)] == []
    assert verdict.counts["runs compared with the interpreter"] == 1
    assert verdict.counts["calls of the server"] < 4_000


def test_faults_of_every_kind_happen_and_one_seed_gives_one_history() -> None:
    about = world(ORDER, MOCKS, ITEMS)
    verdicts = [about.simulate(seed, steps=2_000) for seed in range(6)]
    assert all(verdict.ok for verdict in verdicts)
    assert len({verdict.digest for verdict in verdicts}) == 6
    assert sum(verdict.counts["workers crashed"] for verdict in verdicts) > 3
    assert sum(verdict.counts["hints lost"] for verdict in verdicts) > 3
    assert about.simulate(3, steps=2_000) == verdicts[3]


def test_an_invariant_that_is_broken_is_told_with_the_history_and_what_repeats_it() -> None:
    about = world(
        chain(Pay=task("bank:pay")), {"resources": {"*": {"return": 7}}}, cheap="$output < 7"
    )

    verdict = about.simulate(5, steps=300)

    assert [(one.guarantee, one.seen) for one in verdict.violations] == [
        ("invariant", "cheap: it is false")
    ]
    assert verdict.replay == "dcf sim --workflow order.asl.json --seed 5 --steps 300"
    assert any("StateDone" in line and "Pay" in line for line in verdict.history)
    assert any("work called" in line and line.endswith("-> 7") for line in verdict.history)


def test_the_history_of_what_is_broken_has_the_crashes_and_calls_between_its_events() -> None:
    pay = chain(Pay=task("bank:pay"), Ship=task("bank:ship"))
    mocks = {"states": {"Pay": {"error": "Busy"}, "Ship": {"return": 7, "after": 40}}}
    pay["States"]["Pay"]["Catch"] = [{"ErrorEquals": ["States.ALL"], "Next": "Ship"}]
    about = world(pay, mocks, never="$output = 8")

    verdicts = [about.simulate(seed, steps=300) for seed in range(12)]

    for verdict in verdicts:
        crashed = sum("worker crashed" in line for line in verdict.history)
        assert crashed == verdict.counts["workers crashed"]
        calls = [line for line in verdict.history if "work called" in line]
        assert len(calls) == verdict.counts["task executions"]
        assert any(" Pay " in line and line.endswith("-> Busy") for line in calls)
        moments = [float(line.split()[0]) for line in verdict.history]
        assert moments == sorted(moments)
    assert sum(verdict.counts["workers crashed"] for verdict in verdicts) > 0


def test_what_an_invariant_sees() -> None:
    mocks = {"states": {"Pay": [{"error": "Busy", "cause": "later"}, {"return": 7}]}}
    sees = """
        $input.id = 1 and $output.paid = 7 and $status = 'succeeded'
        and $error = null and $cause = null and $disturbed = false
        and $events[0].type = 'RunStarted' and $events[type = 'RetryScheduled'].error = 'Busy'
        and $count($calls) = 2 and $calls[1].state = 'Pay' and $calls[1].try = 2
        and $calls[0].error = 'Busy' and $calls[0].cause = 'later' and $calls[1].result = 7
        and $calls[0].resource = 'bank:pay' and $calls[0].arguments = {'id': 1}
        and $calls[0].key != $calls[1].key and $calls[0].path = 'Pay' and $calls[0].visit = 1
        and $calls[0].at <= $calls[1].at and $contains($calls[0].worker, 'w')
    """
    verdict = world(chain(Pay=PAY), mocks, {"id": 1}, sees=sees).simulate(0, steps=1)
    assert [*map(str, verdict.violations)] == []


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("$output", "cheap: it is 7, and not true"),
        ("$output.list[0]", "cheap: returned nothing (undefined)."),
        ("$sum($status)", "cheap: threw an error during evaluation. T0412"),
    ],
)
def test_what_is_not_true_is_broken(expression: str, wrong: str) -> None:
    about = world(chain(Pay=task("p")), {"resources": {"*": {"return": 7}}}, cheap=expression)
    [violation] = about.simulate(0, steps=1).violations
    assert violation.seen.startswith(wrong)


def expected(*args: Any) -> Any:
    return world(*args).expectation()


def test_what_time_or_chance_decides_is_left_open() -> None:
    stamp = {
        "Type": "Pass",
        "Parameters": {"at.$": "$$.State.EnteredTime", "id.$": "States.UUID()", "n": [1, 2]},
    }
    end = expected(chain(Stamp=stamp))
    assert end.status == "succeeded"
    assert isinstance(end.output["at"], Undecided)
    assert isinstance(end.output["id"], Undecided)
    assert end.output["n"] == [1, 2]


def test_whether_chance_keeps_it_within_its_time_limit_is_left_open() -> None:
    def waits(seconds: Any) -> Any:
        machine = chain(Rest={"Type": "Wait", "Seconds": seconds})
        return expected({**machine, "QueryLanguage": "JSONata", "TimeoutSeconds": 20})

    assert isinstance(waits("{% $random() > 0.5 ? 40 : 1 %}").status, Undecided)
    assert waits("{% 40 %}").status == "timed_out"


@pytest.mark.parametrize("seconds", [0, 5])
def test_which_of_two_branches_fails_first_is_left_open(seconds: int) -> None:
    def branch(error: str, after: int) -> dict[str, Any]:
        rest = {f"Rest{error}": {"Type": "Wait", "Seconds": after}}
        return chain(**rest, **{error: {"Type": "Fail", "Error": error}})

    both = {"Type": "Parallel", "Branches": [branch("One", 1), branch("Two", 1 + seconds)]}
    end = expected(chain(Both=both))
    assert end.status == "failed"
    assert isinstance(end.error, Undecided)


@pytest.mark.parametrize("lengths", [(0, 1), (1, 0), (0, 4), (4, 0), (2, 3, 7), (7, 3, 2)])
def test_so_is_it_where_one_branch_has_more_states_and_none_waits(lengths: list[int]) -> None:
    branches = [
        chain(
            **{f"P{number}{at}": {"Type": "Pass"} for at in range(length)},
            **{f"F{number}": {"Type": "Fail", "Error": f"E{number}"}},
        )
        for number, length in enumerate(lengths)
    ]
    end = expected(chain(Both={"Type": "Parallel", "Branches": branches}))
    assert end.status == "failed"
    assert isinstance(end.error, Undecided)


def test_what_fails_in_any_order_is_certain() -> None:
    inner = chain(Fails=task("t"))
    each = {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": inner}
    mocks = {"resources": {"t": {"error": "Broken", "cause": "as planned"}}}
    end = expected(chain(Each=each), mocks, ITEMS)
    assert (end.status, end.error, end.cause) == ("failed", "Broken", "as planned")


def test_a_sequence_of_mocks_is_settled_before_faults_mix_it_up() -> None:
    """Whoever takes a try over gets the same answer, and iterations get theirs in any order."""
    mocks = {"states": {"Ship": [{"return": 1}, {"return": 2}, {"return": 3}]}}
    about = world(chain(Each=EACH), mocks, ITEMS, order="$output.each.sent = [1, 2, 3]")
    verdicts = [about.simulate(seed, steps=2_000) for seed in range(8)]
    assert [str(one) for verdict in verdicts for one in verdict.violations] == []
    assert sum(verdict.counts["leases taken over"] for verdict in verdicts) > 0


def test_what_a_mock_expects_is_looked_at_where_a_fault_led_to_other_arguments() -> None:
    """A Pay that a fault delayed is late, and Ship is called with what its Catch passes on."""
    pay = task(
        "bank:pay", TimeoutSeconds=2, Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Ship"}]
    )
    machine = chain(Pay=pay, Ship=task("ship"))
    given = {"return": {"paid": True}, "after": 1}
    shipped = {"return": "sent", "expect": {"paid": True}}
    about = world(machine, {"states": {"Pay": [given], "Ship": [shipped]}})
    verdicts = [about.simulate(seed, steps=2_000) for seed in range(30)]
    unmocked = {one.code for verdict in verdicts for one in verdict.unmocked}
    assert unmocked == {"ASL_MOCK_UNEXPECTED"}


def test_a_task_that_nobody_answers_ends_by_its_limit() -> None:
    caught = [{"ErrorEquals": ["States.Timeout"], "Next": "Late"}]
    machine = chain(Ask=task("t", TimeoutSeconds=40, Catch=caught), Late={"Type": "Succeed"})
    about = world(
        machine, {"resources": {"t": {"never": True}}}, late="$output.Error = 'States.Timeout'"
    )
    for seed in range(4):
        assert [*map(str, about.simulate(seed, steps=2_000).violations)] == []


def test_work_that_takes_an_hour_in_sum_is_waited_for() -> None:
    machine = chain(First=task("t"), Second=task("t"), Third=task("t"))
    about = world(machine, {"resources": {"t": {"return": 1, "after": 1_500}}})
    for seed in range(2):
        assert [*map(str, about.simulate(seed, steps=2_000).violations)] == []


def test_a_machine_that_runs_out_of_time_is_expected_to() -> None:
    machine = {**chain(Rest={"Type": "Wait", "Seconds": 90}), "TimeoutSeconds": 20}
    about = world(machine, late="$status = 'timed_out' and $error = 'States.Timeout'")
    assert about.expectation().status == "timed_out"
    assert [*map(str, about.simulate(1, steps=2_000).violations)] == []


def test_a_task_without_a_mock_is_no_violation_but_is_told() -> None:
    caught = [{"ErrorEquals": ["States.Timeout"], "Next": "Refund"}]
    pay = task("bank:pay", TimeoutSeconds=4, Catch=caught, End=True)
    machine = {"StartAt": "Pay", "States": {"Pay": pay, "Refund": task("refund", End=True)}}
    about = world(machine, {"states": {"Pay": {"return": 1, "after": 3}}})
    verdicts = [about.simulate(seed, steps=2_000) for seed in range(12)]
    told = {problem.message for verdict in verdicts for problem in verdict.unmocked}
    assert len(told) == 1
    assert "nothing is mocked for the Task `Refund`" in told.pop()


def test_what_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(MockTrouble):
        expected(chain(Pay=task("bank:pay")))
    with pytest.raises(Unsimulable, match="never answers"):
        expected(chain(Pay=task("t")), {"resources": {"t": {"never": True}}})
    rule = {"Variable": "$.n", "IsPresent": False, "Next": "Choose"}
    choose = {"Type": "Choice", "Choices": [rule], "Default": "End"}
    with pytest.raises(Unsimulable, match="more than 2,000 steps"):
        expected(chain(Choose=choose, End={"Type": "Succeed"}))
