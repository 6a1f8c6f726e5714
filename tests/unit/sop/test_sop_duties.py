"""What a careful person takes from strangers' texts: steps, their order, consent, inputs, rules.

Each text has a margin: what its line is. `s` a step, `>` a step inside another one, `a` somebody's
consent, `g` a rule, `?` something to decide, `.` nothing to do; nothing in the margin: not looked
at. The last line names the inputs, all of them. No text is of a runbook that the benchmark has.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dcf.sop import Sop, check, draft

TEXTS = Path(__file__).parent / "strangers"
_CASES = {
    f"{file.stem}: {head.strip()}": case
    for file in sorted(TEXTS.glob("*.txt"))
    for head, _, case in (part.partition("\n") for part in file.read_text().split("=== ")[1:])
}


def _split(case: str) -> tuple[list[str], str, list[str] | None]:
    marks, rows = [], []
    inputs = None
    for row in case.rstrip("\n").split("\n"):
        if row.startswith("inputs:"):
            inputs = sorted(row.removeprefix("inputs:").replace(",", " ").split())
            continue
        mark, _, text = row.partition("|")
        marks.append(mark.strip())
        rows.append(text)
    return marks, "\n".join(rows) + "\n", inputs


def _made(sop: Sop) -> dict[int, str]:
    """What is made at each line, by the marks of the margin."""
    found: dict[int, str] = {}
    for step in sop.all_steps():
        mark = ">" if "." in step.number else "s"
        mark = "a" if step.approval is not None else "?" if step.choices else mark
        found[step.line] = found.get(step.line, "") + mark
    return found


@pytest.mark.parametrize("name", _CASES)
def test_a_stranger_s_text_is_read_as_a_careful_person_reads_it(name: str) -> None:
    marks, text, inputs = _split(_CASES[name])
    found = draft(text, "x.md")
    assert not [one for one in check(found.sop) if one.is_error]
    made = _made(found.sop)
    rules = {
        line
        for one in found.sentences
        if one.place == "guardrail"
        for line in range(one.line, one.last_line + 1)
    }
    wrong = []
    for line, (mark, row) in enumerate(zip(marks, text.split("\n"), strict=False), start=1):
        at = made.get(line, "")
        for one in mark:
            is_right = {
                ".": not at,
                "s": bool(set(at) & set("s>")),
                ">": ">" in at,
                "g": line in rules,
            }.get(one, one in at)
            if not is_right:
                wrong.append(f"{line}: {mark!r}, made {at!r}: {row}")
    if inputs is not None:
        names = sorted(one.name for one in found.sop.inputs)
        if names != inputs:
            wrong.append(f"inputs {names}, not {inputs}")
    assert not wrong, "\n" + "\n".join(wrong)
