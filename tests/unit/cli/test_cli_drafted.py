"""What is said once drafts of missing skills are written."""

from __future__ import annotations

from pathlib import Path

from dcf.cli.drafted import drafted_answer, next_commands
from dcf.problem import Problem

GAPS = [Problem("PLAN_GAP", f"step {number}: no skill covers it") for number in (1, 2)]
HERE = Path("generated")


def test_the_next_steps_are_said_and_no_gap_is_listed_again() -> None:
    commands = next_commands(
        Path("oven.md"), Path("skills_src"), HERE, HERE, {"--out": Path("oven.json")}
    )
    answer = drafted_answer({}, ["wrote it"], GAPS, commands, [Path("oven.json")])

    assert commands == ["dcf skills generate", "dcf plan --from-sop oven.md --out oven.json"]
    shown = "\n".join(map(str, answer.show))
    assert "2 steps have their skills as a draft" in shown
    assert all(command in shown for command in commands)
    assert answer.error is not None and answer.exit_code == 2
    assert "oven.json: not written yet" in answer.error.message
    assert answer.error.details == ()


def test_drafts_alone_are_all_that_was_asked_for() -> None:
    answer = drafted_answer({}, [], GAPS[:1], [], [])
    assert (answer.status, answer.exit_code, answer.error) == ("ok", 0, None)


def test_what_is_wrong_besides_is_still_said() -> None:
    other = Problem("PLAN_OUTPUT", "no step writes the output `bread`", file="oven.md")
    answer = drafted_answer({}, [], [*GAPS, other], [], [Path("oven.json")])
    assert answer.error is not None and answer.error.message == "1 problem in oven.md"
    assert [line for line in answer.error.details if "PLAN_GAP" in line] == []


def test_folders_that_are_not_the_usual_ones_are_named() -> None:
    commands = next_commands(Path("a b.md"), Path("own"), Path("made"), HERE, {"--out": None})
    assert commands == [
        "dcf skills generate --src own --generated made",
        "dcf plan --from-sop 'a b.md' --out 'a b.json' --generated made",
    ]
