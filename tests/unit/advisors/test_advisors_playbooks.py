"""What failed and was seen before is named with its playbook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memory_world import Numbered, Ticking
from unit.advisors.advisor_samples import NOW, Known, outcome, reflected
from unit.advisors.test_reflecting_on_a_file import told

from dcf.advisors import html_of, markdown_of, report_of, with_playbooks
from dcf.memory import SYSTEM, Memory, NewPlaybook, Source


async def test_failures_that_fit_a_playbook_are_named_in_the_report(tmp_path: Path) -> None:
    refused = "account 4711 is locked (request 9f8a7b6c)"
    ended = [outcome(number, False, cause=refused) for number in range(1, 4)]
    other = outcome(9, False, error="Bank.Unreachable", cause="no route to host")
    reflection = await reflected(Known([*ended, other, outcome(10)]))
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        new = NewPlaybook("Bank.Refused: account 17 is locked", "Call Ann.", "bank team", "/shop")
        await memory.playbooks.add(new, by=SYSTEM)
        await memory.playbooks.add(replace(new, project="/elsewhere"), by=SYSTEM)
        await memory.playbooks.count("playbook-1", helped=True, used_by="ada", by=SYSTEM)
        found = await with_playbooks(reflection, None, memory, "/shop")
        nothing = await with_playbooks(reflection, None, memory, "/none")
        # A run whose end no Task brought about, such as a Fail state.
        failed = replace(
            told().end, status="failed", error="Bank.Refused", cause="account 5 is locked"
        )
        by_end = await with_playbooks(await reflected(Known([outcome(1)])), failed, memory, "/shop")
        # An end that a Task brought about is told once, with the others of its kind.
        of_task = await with_playbooks(
            reflection, replace(failed, workflow_id="run-1"), memory, "/shop"
        )
    (one,) = found.to_json()["playbooks"]
    assert (one["error"], one["n"]) == (f"Bank.Refused: {refused}", 3)
    assert one["runs"] == ["run-3", "run-2", "run-1"]
    assert (one["playbook"], one["owner"]) == ("dcf://playbook/playbook-1", "bank team")
    assert (one["resolution"], one["score"], one["helped"]) == ("Call Ann.", 1.0, 1)
    assert nothing == reflection and "Seen before" not in markdown_of(report_of(nothing))
    text = markdown_of(report_of(found))
    (row,) = (line for line in text.splitlines() if "dcf://playbook/playbook-1" in line)
    assert "Call Ann." in row and "helped once, failed never" in row
    assert "Seen before" in html_of(report_of(found))
    (one,) = by_end.to_json()["playbooks"]
    assert (one["error"], one["runs"]) == ("Bank.Refused: account 5 is locked", ["run-0"])
    assert of_task.playbooks == found.playbooks
    assert reflection.analysis.until == NOW
