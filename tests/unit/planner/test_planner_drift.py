"""A workflow follows the text that it was compiled from, and keeps what was edited by hand."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from campaigns import campaign
from random_procedures_that_compile import Maker
from small_market import SELL_IT

from dcf.planner import Drift, Market, Plan, Takes, compile_sop, drift
from dcf.planner.drifting.three_way import MISSING, UNKNOWN, merged
from dcf.planner.states_digest import all_states
from dcf.problem import has_errors
from dcf.skills import SkillCatalog
from dcf.sop import Sop, parse, print_markdown
from dcf.workflow import validate

CHARGE, TELL = "ChargeTheCardOfTheCustomer", "TellTheCustomerWhatHappened"
INSERTED = (
    SELL_IT.replace("3. Tell", "4. Tell")
    .replace("2. Charge", "3. Charge")
    .replace("3. Charge", "2. Wait 2 hours.\n3. Charge")
)


@pytest.fixture
def compile_(market: Market) -> Callable[[Sop], Plan]:
    return lambda sop: compile_sop(sop, market)


def made_of(text: str, compile_: Callable[[Sop], Plan]) -> dict[str, Any]:
    sop = parse(text, "sell.md").sop
    assert sop is not None
    document = compile_(sop).document
    assert document is not None
    return deepcopy(document)


def states_of(found: Drift) -> dict[str, Any]:
    assert not has_errors(validate(found.document)), validate(found.document)
    states: dict[str, Any] = found.document["asl"]["States"]
    return states


@campaign(shares=4)
def test_without_edits_it_is_what_the_new_text_compiles_to(
    share: int, compile_: Callable[[Sop], Plan]
) -> None:
    for seed in range(share * 8, share * 8 + 8):
        old, new = (made_of(print_markdown(Maker(Random(one)).sop()), compile_)
                    for one in (seed, seed + 1))  # fmt: skip
        found = drift(old, deepcopy(new), compile_, Takes())
        assert found.document == new, seed
        assert (found.conflicts, found.kept, found.dropped) == ((), (), ()), seed


@campaign(shares=4)
def test_edits_stay_where_the_text_did_not_change(
    share: int, compile_: Callable[[Sop], Plan]
) -> None:
    for seed in range(share * 8, share * 8 + 8):
        new = made_of(print_markdown(Maker(Random(seed)).sop()), compile_)
        mine = deepcopy(new)
        mine["version"] = "3.1.0"
        for name, state in all_states(mine["asl"]).items():
            state["Comment"] = f"{name} by hand"  # type: ignore[index]
        found = drift(mine, new, compile_, Takes())
        assert found.document is mine, seed
        assert found.conflicts == ()


@campaign(shares=4)
def test_an_edit_and_a_change_of_other_steps_are_both_there(
    share: int, compile_: Callable[[Sop], Plan]
) -> None:
    for seed in range(share * 8, share * 8 + 8):
        sop = parse(print_markdown(Maker(Random(seed)).sop()), "made.md").sop
        assert sop is not None
        mine = made_of(print_markdown(sop), compile_)
        first, *rest = sop.steps
        if not rest:
            continue
        changed = replace(sop, steps=(replace(first, title=f"{first.title} again"), *rest))
        new = made_of(print_markdown(changed), compile_)
        edited = mine["plan"]["steps"][-1]["states"]
        for name in edited:
            all_states(mine["asl"])[name]["Comment"] = "by hand"  # type: ignore[index]

        found = drift(mine, deepcopy(new), compile_, Takes())

        for name in new["plan"]["steps"][-1]["states"]:
            all_states(new["asl"])[name]["Comment"] = "by hand"  # type: ignore[index]
        assert found.document["asl"] == new["asl"], seed
        assert found.document["plan"] == new["plan"], seed
        assert (found.conflicts, len(found.kept)) == ((), len(edited)), seed


def edited_charge(compile_: Callable[[Sop], Plan]) -> dict[str, Any]:
    mine = made_of(SELL_IT, compile_)
    mine["asl"]["States"][CHARGE]["TimeoutSeconds"] = 90
    mine["asl"]["States"][TELL]["Next"] = "Audit"
    mine["asl"]["States"]["Audit"] = {"Type": "Pass", "Comment": "Count it", "Next": "Done"}
    mine["version"] = "1.4.0"
    return mine


def test_a_new_step_is_woven_in_and_edits_are_kept(compile_: Callable[[Sop], Plan]) -> None:
    found = drift(edited_charge(compile_), made_of(INSERTED, compile_), compile_, Takes())

    states = states_of(found)
    assert states["CheckTheOrderOutcome"]["Default"] == "Wait2Hours"
    assert states["Wait2Hours"]["Next"] == CHARGE
    assert states[CHARGE]["TimeoutSeconds"] == 90
    assert "(Step 3;" in states[CHARGE]["Comment"]  # what was not edited follows the text
    assert states[TELL]["Next"] == "Audit"
    assert list(states)[-1] == "Audit"  # where it stood
    assert found.document["version"] == "1.4.0"
    assert found.conflicts == ()
    assert [(one.kind, one.old, one.new) for one in found.steps] == [
        ("same", "1", "1"), ("added", None, "2"), ("same", "2", "3"), ("same", "3", "4"),
    ]  # fmt: skip
    assert {(one.kind, one.state, one.members) for one in found.kept} == {
        ("edited", CHARGE, ("TimeoutSeconds",)),
        ("edited", TELL, ("Next",)),
        ("added", "Audit", ()),
        ("edited", None, ("version",)),
    }


@pytest.mark.parametrize(
    ("takes", "retries", "timeout"),
    [
        (Takes(), None, None),
        (Takes("source"), 5, None),
        (Takes("workflow"), 2, 90),
        (Takes("source", {"2": "workflow"}), 2, 90),
        (Takes(None, {"2": "source"}), 5, None),
    ],
)
def test_a_step_that_both_changed_is_asked_about(
    takes: Takes, retries: int | None, timeout: int | None, compile_: Callable[[Sop], Plan]
) -> None:
    later = SELL_IT.replace("up to 2 times", "up to 5 times")
    found = drift(edited_charge(compile_), made_of(later, compile_), compile_, takes)

    (conflict,) = found.conflicts
    assert (conflict.key, conflict.states) == ("2", (CHARGE,))
    assert conflict.change is not None
    assert [line[:2] for line in conflict.change.text] == ["- ", "+ "]
    assert bool(found.open) == (retries is None)
    if retries is not None:
        charge = states_of(found)[CHARGE]
        assert charge["Retry"][0]["MaxAttempts"] == retries
        assert charge.get("TimeoutSeconds") == timeout


def test_a_step_that_is_gone_but_was_edited_is_asked_about(
    compile_: Callable[[Sop], Plan],
) -> None:
    mine = made_of(SELL_IT, compile_)
    mine["asl"]["States"][CHARGE]["TimeoutSeconds"] = 90
    head, _, rest = SELL_IT.partition("2. Charge")
    later = head + "2. Tell" + rest.partition("3. Tell")[2]

    found = drift(mine, made_of(later, compile_), compile_, Takes())
    assert [one.key for one in found.open] == ["old-2"]

    taken = drift(mine, made_of(later, compile_), compile_, Takes("source"))
    assert taken.document["asl"] == made_of(later, compile_)["asl"]
    kept = drift(mine, made_of(later, compile_), compile_, Takes("workflow"))
    # It is kept, but nothing leads to it: validation says so, by its name.
    assert [one.code for one in validate(kept.document) if CHARGE in str(one) and one.is_error]


def test_conditions_that_lead_to_a_step_that_is_gone_follow_the_text(
    compile_: Callable[[Sop], Plan],
) -> None:
    earlier = SELL_IT.replace("stop with Rejected", "go to step 3")
    mine = made_of(earlier, compile_)
    mine["asl"]["States"]["CheckTheOrder"]["TimeoutSeconds"] = 90
    new = made_of(SELL_IT.partition("3. Tell")[0], compile_)

    found = drift(mine, deepcopy(new), compile_, Takes("workflow"))

    assert [one.key for one in found.conflicts] == ["1"]
    states = states_of(found)
    assert states["CheckTheOrder"]["TimeoutSeconds"] == 90
    assert states["CheckTheOrderOutcome"] == new["asl"]["States"]["CheckTheOrderOutcome"]


def test_a_state_taken_out_by_hand_stays_out(compile_: Callable[[Sop], Plan]) -> None:
    mine = made_of(SELL_IT, compile_)
    states = mine["asl"]["States"]
    del states[TELL]
    states[CHARGE]["Next"] = "Done"

    found = drift(mine, made_of(INSERTED, compile_), compile_, Takes())

    assert TELL not in states_of(found)
    assert states_of(found)["Wait2Hours"]["Next"] == CHARGE
    assert ("removed", TELL) in {(one.kind, one.state) for one in found.kept}


def test_a_step_with_another_title_keeps_its_edits(compile_: Callable[[Sop], Plan]) -> None:
    later = SELL_IT.replace(
        "3. Tell the customer what happened", "3. Tell the customer what we did"
    )
    mine = made_of(SELL_IT, compile_)
    mine["asl"]["States"][CHARGE]["TimeoutSeconds"] = 90

    states = states_of(drift(mine, made_of(later, compile_), compile_, Takes()))

    assert states[CHARGE]["TimeoutSeconds"] == 90
    assert states[CHARGE]["Next"] == "TellTheCustomerWhatWeDid"
    assert TELL not in states


def test_a_step_that_moved_takes_its_edits_along(compile_: Callable[[Sop], Plan]) -> None:
    head, _, rest = SELL_IT.partition("2. Charge")
    charge, _, tell = rest.partition("3. Tell")
    later = f"{head}2. Tell{tell}3. Charge{charge}"
    mine = made_of(SELL_IT, compile_)
    mine["asl"]["States"][CHARGE]["TimeoutSeconds"] = 90

    found = drift(mine, made_of(later, compile_), compile_, Takes())

    states = states_of(found)
    assert (states[TELL]["Next"], states[CHARGE]["Next"]) == (CHARGE, "Done")
    assert states[CHARGE]["TimeoutSeconds"] == 90
    assert [one.moved for one in found.steps].count(True) == 1


def test_where_the_skill_of_then_is_gone_an_edit_is_asked_about(
    market: Market, compile_: Callable[[Sop], Plan]
) -> None:
    mine = made_of(SELL_IT, compile_)
    (chosen,) = mine["plan"]["steps"][1]["skills"]
    mine["asl"]["States"][CHARGE]["TimeoutSeconds"] = 90
    left = [one for one in market.catalog if f"{one.name}@{one.version}" != chosen]
    poorer = replace(market, catalog=SkillCatalog(left))

    def compile_poorer(sop: Sop) -> Plan:
        return compile_sop(sop, poorer)

    new = made_of(SELL_IT, compile_poorer)
    found = drift(mine, new, compile_poorer, Takes())
    assert [one.key for one in found.open] == ["2"]
    taken = drift(mine, new, compile_poorer, Takes("source"))
    assert taken.document["asl"] == new["asl"]


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "value", "conflicts"),
    [
        ({"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 1, "b": 3}, {"a": 2, "b": 3}, ()),
        ({"a": 1}, {"a": 2}, {"a": 3}, {"a": 2}, ("a",)),
        ({"a": 1}, {}, {"a": 1}, {}, ()),
        ({"a": 1}, {}, {"a": 2}, {}, ("a",)),
        ({}, {"a": 1}, {"a": 1}, {"a": 1}, ()),
        ([1, 2], [1, 3], [4, 2], [4, 3], ()),
        ([1], [1, 2], [3], [1, 2], ("",)),
        (UNKNOWN, {"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a": 1, "b": 2}, ("b",)),
        (1, True, 1, True, ()),
        (MISSING, MISSING, 1, 1, ()),
    ],
)
def test_three_versions_become_one(
    base: Any, mine: Any, theirs: Any, value: Any, conflicts: tuple[str, ...]
) -> None:
    found = merged(base, mine, theirs, "workflow")
    assert found.conflicts == conflicts
    assert found.value == value and type(found.value) is type(value)
