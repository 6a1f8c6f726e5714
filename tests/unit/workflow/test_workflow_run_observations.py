"""What a run leaves to be known: few rows, of its definition's words, and nothing of its data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from unit.workflow.stage import Calls, Stage, catch, flow, mapping, passing, retry, staged, task

from dcf.memory import NewObservation
from dcf.worker import TaskFailure
from dcf.workflow import observations_of
from dcf.workflow.choice_reason import choice_reason

SECRET = "CUST-4711 of Kassel"
"""What a run is given and its tools put out."""


def rule(following: str, **said: Any) -> dict[str, Any]:
    return {"Variable": "$.n", "Next": following, **said}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"NumericGreaterThan": 0}, "$.n is above 0"),
        ({"NumericLessThanEqualsPath": "$.most"}, "$.n is at most $.most"),
        ({"StringEquals": "manual"}, '$.n is "manual"'),
        ({"StringMatches": "a*"}, '$.n matches "a*"'),
        ({"BooleanEquals": False}, "$.n is false"),
        ({"IsPresent": False}, "$.n is not present"),
        ({"IsString": True}, "$.n is a string"),
        ({"TimestampLessThan": "2026-01-01T00:00:00Z"}, '$.n is below "2026-01-01T00:00:00Z"'),
    ],
)
def test_a_condition_is_said_in_words(said: dict[str, Any], words: str) -> None:
    assert choice_reason({"Choices": [rule("B", **said)]}, "B") == words


def test_combinations_expressions_and_defaults_are_said_too() -> None:
    one, two = {"Variable": "$.a", "IsNull": True}, {"Variable": "$.b", "NumericEquals": 2}
    both = {"And": [one, {"Not": two}], "Next": "B"}
    assert choice_reason({"Choices": [both]}, "B") == "($.a is null) and (not ($.b is 2))"
    jsonata = {"Condition": "{% $states.input.n > 3 %}", "Next": "B"}
    assert choice_reason({"Choices": [jsonata]}, "B") == "$states.input.n > 3"
    state = {"Choices": [rule("B", NumericEquals=1), rule("C", NumericEquals=2)], "Default": "D"}
    said = "by default, since none of these held: $.n is 1 (B); $.n is 2 (C)"
    assert choice_reason(state, "D") == said
    assert choice_reason({**state, "Default": "C"}, "C") == "$.n is 2 or no other rule held"


def texts(one: NewObservation) -> str:
    """All that another run may be told of it."""
    return repr(replace(one, note="", origin=replace(one.origin, source_id="")))


def named(found: tuple[NewObservation, ...]) -> list[tuple[str, str, str | None]]:
    return [(one.type, one.title, one.origin.state) for one in found]


async def left(stage: Stage, definition: dict[str, Any], value: Any, **work: Any) -> Any:
    await stage.play(definition, value, work)
    found = await observations_of(stage.store, await stage.store.run("run-1"), project="/shop")
    assert all(SECRET not in texts(one) for one in found)
    return found


@staged
async def test_steps_without_a_choice_an_error_or_a_change_leave_nothing(stage: Stage) -> None:
    assert await left(stage, flow(A=passing(), B=task(), C=passing()), 1, work=Calls()) == ()


@staged
async def test_a_run_tells_where_its_choices_went_and_by_which_rule(stage: Stage) -> None:
    inside = flow(
        Fits={"Type": "Choice", "Choices": [rule("Put", NumericEquals=1)], "Default": "Throw"},
        Put=passing(End=True),
        Throw=passing(),
    )
    definition = flow(
        Sort=mapping(inside, ItemsPath="$.list", ResultPath="$.sorted"),
        Enough={"Type": "Choice", "Choices": [rule("Few", NumericLessThan=9)], "Default": "End"},
        Few=passing(),
        End=passing(),
    )
    value = {"n": 3, "of": SECRET, "list": [{"n": 1}, {"n": 2}, {"n": 1}]}
    (one,) = await left(stage, definition, value)
    assert (one.type, one.title) == ("decision", "Enough→Few, Fits→Put, Fits→Throw")
    assert one.facts == (
        "Enough went to Few: $.n is below 9",
        "Sort/Fits went to Put: $.n is 1",
        "Sort/Fits went to Throw: by default, since none of these held: $.n is 1 (Put)",
    )
    assert (one.project, one.workflow) == ("/shop", (await stage.store.run("run-1")).name)
    assert str(one.origin.citation) == "dcf://run/run-1/state/Enough"


@staged
async def test_an_error_that_a_retry_got_over_is_told_with_the_policy(stage: Stage) -> None:
    policy = retry("Busy", IntervalSeconds=2, MaxAttempts=4)
    work = Calls(lambda _: TaskFailure("Busy", SECRET) if work.count < 3 else SECRET)
    (one,) = await left(stage, flow(Pay=task(**policy)), SECRET, work=work)
    assert (one.type, one.title) == ("bugfix", "Pay: a retry got over Busy")
    assert one.facts == ("Retry of Busy: up to 4 times, first after 2 s.",)
    assert one.concepts == ("problem-solution",)


@staged
async def test_a_caught_error_and_the_one_that_ended_the_run_say_where(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure("Declined", SECRET))
    policy = retry("Declined", MaxAttempts=1)
    definition = flow(
        Pay=task(**policy, **catch("Sorry", "Declined")),
        Sorry={"Type": "Fail", "Error": "NotPaid", "CausePath": "$.Cause"},
    )
    found = await left(stage, definition, SECRET, work=work)
    assert named(found) == [
        ("discovery", "Sorry ended the run with NotPaid", "Sorry"),
        ("discovery", "Pay: Declined led to Sorry", "Pay"),
    ]
    assert found[0].facts == ("It came after Pay.",)
    assert found[1].facts[0] == "Its retries did not help."
    assert SECRET in found[0].note


@staged
async def test_what_a_tool_calls_its_error_is_told_only_if_it_is_a_name(stage: Stage) -> None:
    work = Calls(lambda _: TaskFailure(SECRET, "x"))
    (one,) = await left(stage, flow(Pay=task()), SECRET, work=work)
    assert one.title == "Pay ended the run with an error without a plain name"
    assert SECRET in one.note


@staged
async def test_the_same_question_with_another_answer_is_told(stage: Stage) -> None:
    work = Calls(lambda _: f"{SECRET} {work.count}")
    again = {"Variable": "$.said", "StringMatches": "* 1", "Next": "Ask"}
    definition = flow(
        Ask=task(Parameters={"q": "the same"}, ResultPath="$.said"),
        Known={"Type": "Choice", "Choices": [again], "Default": "Over"},
        Over=passing(),
    )
    found = await left(stage, definition, {"of": SECRET}, work=work)
    assert named(found)[0] == ("discovery", "Ask answered the same input differently", "Ask")


@staged
async def test_no_run_leaves_more_than_a_handful(stage: Stage) -> None:
    work = Calls(lambda given: TaskFailure(f"E{given['of']}", ""))
    names = [f"T{number}" for number in range(9)]
    states = {
        name: task(Parameters={"of": name}, **catch(following, f"E{name}"))
        for name, following in zip(names, [*names[1:], "Over"], strict=True)
    }
    assert len(await left(stage, flow(**states, Over=passing()), 1, work=work)) == 5
