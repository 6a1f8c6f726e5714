"""The verdict names what does not hold, and goes on to judge the rest."""

from __future__ import annotations

import json
from pathlib import Path

from unit.workflow.stage import Calls, Stage, flow, staged, task

from tests.chaos.effects import Ledger
from tests.chaos.machines import Order
from tests.chaos.verdict import Guarantee, Verdict, judge


def order_of(run: str, *, poison: str | None = None) -> Order:
    return Order(run, flow(A=task()), () if poison else ("A",), poison)


async def played(stage: Stage, ledger: Ledger, *runs: str) -> None:
    """Runs that succeed, each with its effect."""
    stage.worker({"work": Calls()})
    for run in runs:
        await stage.submit(flow(A=task()), {}, run=run)
        await stage.end(run)
        ledger.take_effect(f"{run}/A/1/1")


def held(verdict: Verdict) -> list[str]:
    return [one for one in Guarantee if verdict.says(one) == "held"]


@staged
async def test_a_lost_run_is_a_violation_and_the_others_are_judged(
    stage: Stage, tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    await played(stage, ledger, "there")
    orders = [order_of("lost"), order_of("lost-poison", poison="A"), order_of("there")]
    verdict = await judge(stage.store, orders, ledger)
    assert verdict.broken == {
        Guarantee.NO_RUN_IS_LOST: [
            f"{run} was submitted, and there is no such run" for run in ("lost", "lost-poison")
        ]
    }
    assert verdict.runs == {"lost": 1, "poison lost": 1, "succeeded": 1}
    assert verdict.tasks == 1
    assert verdict.says(Guarantee.NO_EFFECT_IS_LOST) == "held"


@staged
async def test_what_nothing_tested_is_not_held(stage: Stage, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    assert held(await judge(stage.store, [], ledger)) == []
    await played(stage, ledger, "r1")
    verdict = await judge(stage.store, [order_of("r1")], ledger)
    assert verdict.broken == {}
    assert set(held(verdict)) == {
        Guarantee.NO_RUN_IS_LOST,
        Guarantee.EVERY_RUN_ENDS,
        Guarantee.NOTHING_INNOCENT_FAILS,
        Guarantee.HISTORIES_ARE_WHOLE,
        Guarantee.NO_LEASE_IS_LEFT,
        Guarantee.NO_EFFECT_IS_LOST,
        Guarantee.NO_EFFECT_IS_DOUBLED,
        Guarantee.NO_EFFECT_OF_NOBODY,
    }
    assert verdict.to_json()["guarantees"]["poison is stopped at its limit"] == {
        "verdict": "not tested",
        "looks": 0,
    }


@staged
async def test_effects_are_compared_with_tasks(stage: Stage, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    await played(stage, ledger, "once", "twice")
    ledger.take_effect("twice/A/1/2")
    ledger.take_effect("nobody/A/1/1")
    await stage.submit(flow(A=task()), {}, run="never")
    await stage.end("never")
    orders = [order_of(run) for run in ("once", "twice", "never")]
    verdict = await judge(stage.store, orders, ledger)
    assert verdict.broken == {
        Guarantee.NO_EFFECT_IS_DOUBLED: ["A of twice took effect 2 times"],
        Guarantee.NO_EFFECT_IS_LOST: ["A of never never took effect"],
        Guarantee.NO_EFFECT_OF_NOBODY: ["A of nobody took effect, and is no Task of it"],
    }


@staged
async def test_a_lease_of_a_poison_run_is_seen_too(stage: Stage, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    await played(stage, ledger, "r1")
    [document] = (await stage.store.states("r1", ["A"])).values()
    lease = {"owner": "gone", "token": "0" * 40, "ends": 1, "ts": 1, "ttl": 1}
    broken = {**document.raw, "ctl": {**document.raw["ctl"], "lease": lease}}
    await put(stage, "r1", broken)
    verdict = await judge(stage.store, [order_of("r1", poison="A")], ledger)
    [said] = verdict.broken[Guarantee.NO_LEASE_IS_LEFT]
    assert said.startswith("A of r1 is held by")
    assert Guarantee.POISON_IS_STOPPED in verdict.broken


@staged
async def test_a_history_with_a_gap_is_a_violation(stage: Stage, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    await played(stage, ledger, "r1", "r2")
    stream = stage.store.keys("r1").history
    entries = await stage.twin.command("XRANGE", stream, "-", "+")
    await stage.twin.command("XDEL", stream, entries[1][0])
    orders = [order_of("r1", poison="A"), order_of("r2")]
    verdict = await judge(stage.store, orders, ledger)
    assert len(verdict.broken[Guarantee.HISTORIES_ARE_WHOLE]) == 1
    assert verdict.says(Guarantee.POISON_IS_STOPPED) == "not tested"
    assert verdict.says(Guarantee.NO_EFFECT_IS_LOST) == "held"


async def put(stage: Stage, run: str, document: dict[str, object]) -> None:
    key = stage.store.keys(run).state("A")
    await stage.twin.command("JSON.SET", key, "$", json.dumps(document))
