"""A campaign that tested nothing is no success, and its report says so."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.chaos.deployment import Crew
from tests.chaos.faults import Fault, Faults
from tests.chaos.report import outcome, report_of, table
from tests.chaos.verdict import Guarantee, Verdict

FULL = "disk full"
WHY = "no small disk can be mounted: must be superuser"


def reported(
    tmp_path: Path,
    *,
    minutes: float = 5.0,
    happened: dict[str, int] | None = None,
    untested: Guarantee | None = None,
    broken: Guarantee | None = None,
) -> dict[str, Any]:
    async def happen() -> bool:
        return True

    kinds = {kind: Fault(1, happen) for kind in ("worker killed", "worker stopped")}
    faults = Faults({**kinds, FULL: Fault(1, happen, WHY)}, random.Random(1), each_s=1.0)
    faults.happened.update(
        {"worker killed": 2, "worker stopped": 1} if happened is None else happened
    )
    verdict = Verdict()
    for guarantee in Guarantee:
        if guarantee is not untested:
            verdict.look(guarantee, guarantee is not broken, "a reason")
    return report_of(7, minutes, faults, {}, Crew(0, {}, tmp_path, 2.0), verdict)


def shown(report: dict[str, Any]) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=200).print(table(report))
    return [" ".join(line.split("│")[1:3]) for line in out.getvalue().splitlines()]


def row(report: dict[str, Any], name: str) -> str:
    [found] = [line for line in shown(report) if line.split("  ")[0].strip() == name]
    return found.removeprefix(f" {name}").strip()


def test_every_kind_of_fault_has_a_row(tmp_path: Path) -> None:
    report = reported(tmp_path, happened={"worker killed": 2})
    assert row(report, "faults: worker killed") == "2"
    assert row(report, "faults: worker stopped") == "0"
    assert row(report, f"faults: {FULL}") == f"not possible here: {WHY}"
    assert report["faults"] == {"worker killed": 2, "worker stopped": 0}
    assert report["not possible here"] == {FULL: WHY}


def test_what_ended_workers_besides_faults_is_explained(tmp_path: Path) -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(table(reported(tmp_path)))
    said = " ".join(out.getvalue().split())
    assert "workers that ended by themselves: no fault ended them. A Task that kills" in said


def test_every_guarantee_has_a_row(tmp_path: Path) -> None:
    report = reported(
        tmp_path, untested=Guarantee.POISON_IS_STOPPED, broken=Guarantee.NO_RUN_IS_LOST
    )
    assert row(report, "guarantee: every run ends") == "held 1 times"
    assert row(report, "guarantee: no run is lost") == "violated 1 of 1 times"
    assert row(report, "guarantee: poison is stopped at its limit") == "not tested"
    assert len([line for line in shown(report) if "guarantee: " in line]) == len(Guarantee)


def test_what_was_tested_and_held_is_a_success(tmp_path: Path) -> None:
    assert outcome(reported(tmp_path)) == (0, ["Every guarantee held."])


def test_a_violation_is_a_failure_of_any_campaign(tmp_path: Path) -> None:
    report = reported(tmp_path, minutes=0.1, broken=Guarantee.NO_RUN_IS_LOST)
    assert outcome(report) == (1, ["1 guarantees are violated."])


@pytest.mark.parametrize(("minutes", "code"), [(0.5, 0), (1.0, 0), (1.5, 1)])
def test_a_long_campaign_fails_where_a_possible_kind_never_happened(
    tmp_path: Path, minutes: float, code: int
) -> None:
    report = reported(tmp_path, minutes=minutes, happened={"worker killed": 2})
    got, said = outcome(report)
    assert got == code
    assert said[0] == "Not tested: no fault of the kind 'worker stopped' happened."
    assert "Every guarantee held." not in said


def test_a_long_campaign_fails_where_nothing_tested_a_guarantee(tmp_path: Path) -> None:
    report = reported(tmp_path, untested=Guarantee.MEMORY_AND_STATE_AGREE)
    assert outcome(report)[0] == 1
    assert "Not tested: nothing tested that memory and state agree." in outcome(report)[1]


def test_who_asked_for_no_poison_misses_none(tmp_path: Path) -> None:
    report = reported(tmp_path, untested=Guarantee.POISON_IS_STOPPED)
    assert outcome(report)[0] == 1
    assert outcome(report, poison=False)[0] == 0


def test_without_any_fault_nothing_was_tested(tmp_path: Path) -> None:
    code, said = outcome(reported(tmp_path, minutes=0.1, happened={}))
    assert code == 1
    assert said[-1] == "Failed: no fault happened, so no guarantee was tested."


def test_an_interrupted_campaign_says_so_and_exits_with_130(tmp_path: Path) -> None:
    report = {**reported(tmp_path), "interrupted": True}
    assert outcome(report) == (
        130,
        ["interrupted; guarantees are looked at when a campaign is over"],
    )
