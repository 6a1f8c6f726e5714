"""Whatever a runbook says of jumps, loops and ends, its draft is a workflow that ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from dcf import workflow
from dcf.planner import Market, compile_sop
from dcf.problem import has_errors
from dcf.sop import GoTo, draft

_NUMBERS = st.integers(1, 12)
_ACTS = st.sampled_from(["Check the pod", "Drain the node", "Restart the service", "Tell the team"])
_CASES = st.sampled_from(["the pod fails", "the disk is full", "nothing has changed", "it is slow"])
_WAYS = st.one_of(
    st.builds("go back to step {}".format, _NUMBERS),
    st.builds("repeat from step {}".format, _NUMBERS),
    st.builds("skip to step {}".format, _NUMBERS),
    st.sampled_from(
        ["stop here", "you are done", "roll back", "start over", "restart the service"]
    ),
)
_SENTENCES = st.one_of(
    _ACTS,
    st.builds(str.capitalize, _WAYS),
    st.builds("If {}, {}".format, _CASES, _WAYS),
    st.builds("If {}, {}. Otherwise, {}".format, _CASES, _WAYS, _WAYS),
    st.builds("{}, then {}".format, _ACTS, _WAYS),
    st.builds("{} until {}".format, _ACTS, _CASES),
    st.builds("For each node, {}".format, _WAYS),
    st.just("Restart each node one by one"),
    st.just("Wait 5 minutes"),
    st.just("Ask the manager for approval"),
)
_HEADINGS = st.sampled_from(
    ["## Steps", "## Rollback", "## Escalation", "## 2. Verify", "## If it fails"]
)
_LINES = st.one_of(
    st.builds("{}. {}".format, _NUMBERS, _SENTENCES),
    st.builds("1. {}".format, _SENTENCES),
    st.builds("   - {}".format, _SENTENCES),
    st.builds("- {}".format, _SENTENCES),
    st.builds("{}.".format, _SENTENCES),
    _HEADINGS,
)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(lines=["1. Check the pod", "2. Go back to step 1"])
@example(lines=["1. Check the pod", "2. If it is slow, go back to step 1. Otherwise, go to step 2"])
@example(lines=["1. For each node, go back to step 1", "2. Restart each node one by one"])
@given(lines=st.lists(_LINES, min_size=1, max_size=14))
def test_every_draft_of_a_runbook_validates_and_ends(market: Market, lines: list[str]) -> None:
    found = draft("# Restore it\n\n" + "\n".join(lines) + "\n", "any.md")
    assume(not found.exact)  # a procedure in our own form says itself how it ends
    plan = compile_sop(found.sop, market)
    assert plan.document is not None, [str(one) for one in plan.problems]
    assert not has_errors(workflow.validate(plan.document, catalog=market.catalog))
    for machine in _machines(plan.document["asl"]):
        assert _endless(machine) == set()


def _machines(machine: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield machine
    for state in machine["States"].values():
        inner = [state[name] for name in ("Iterator", "ItemProcessor") if name in state]
        for one in (*inner, *state.get("Branches", ())):
            yield from _machines(one)


def _endless(machine: dict[str, Any]) -> set[str]:
    """The states from which no way leads to an end, failures apart."""
    ways = {name: set(_ways(state)) for name, state in machine["States"].items()}
    ended = {name for name, state in machine["States"].items() if _ends(state)}
    while more := {name for name, to in ways.items() if to & ended} - ended:
        ended |= more
    return set(ways) - ended


def _ways(state: dict[str, Any]) -> Iterator[str]:
    yield from (state[name] for name in ("Next", "Default") if name in state)
    yield from (one["Next"] for one in state.get("Choices", ()))


def _ends(state: dict[str, Any]) -> bool:
    return state.get("End", False) or state["Type"] in ("Succeed", "Fail")


def test_a_jump_back_that_nothing_leads_past_is_asked_for_each_time() -> None:
    found = draft("# Watch it\n\n1. Look at the graph\n2. Write it down\n3. Go back to step 1\n")
    *_, last, asked = found.sop.steps
    assert last.then == GoTo(asked.number)
    assert asked.title == "Is step 1 to be done again?" and asked.choices == ("yes", "no")
    assert [one.then for one in asked.branches] == [GoTo("1")]
    (question,) = found.questions
    assert (question.line, question.asks) == (4, "nothing says when this is no longer repeated")


def test_a_step_that_leads_to_its_own_number_means_that_of_another_list() -> None:
    text = (
        "# Publish\n\n## Procedure\n\n1. Build it\n2. Test it\n\n"
        "## Bugfix procedure\n\n1. Pick it\n2. Follow the procedure above starting with step 2\n"
    )
    found = draft(text)
    test = next(one for one in found.sop.steps if one.title == "Test it")
    assert [one.then for one in found.sop.steps[-1].branches] == [GoTo(test.number)]
