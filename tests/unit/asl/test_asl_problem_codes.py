"""The catalogue of codes: complete, and each example gives its code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dcf.asl
from dcf.asl.checks.problem_codes import PROBLEM_CODES

# Not of mocks and invariants, which a definition has not.
_CODE = re.compile(r'"(ASL_(?!MOCK_|INVARIANT)[A-Z_]+)"')


def test_every_code_of_the_room_is_in_the_catalogue_and_no_other() -> None:
    room = Path(dcf.asl.__path__[0])
    catalogue = {"problem_codes_structure.py", "problem_codes_data.py", "aws_wording.py"}
    found = {
        code
        for file in room.rglob("*.py")
        if file.name not in catalogue
        for code in _CODE.findall(file.read_text(encoding="utf-8"))
    }

    assert found == PROBLEM_CODES.keys()


@pytest.mark.parametrize("code", PROBLEM_CODES)
def test_the_example_gives_the_code_and_nothing_else(code: str) -> None:
    entry = PROBLEM_CODES[code]

    problems = entry.problems()

    severity = "warning" if entry.is_warning else "error"
    assert {(p.code, p.severity) for p in problems} == {(code, severity)}
    assert all(problem.message and problem.hint for problem in problems)


def test_examples_are_shown_cut_where_they_are_long() -> None:
    assert len(PROBLEM_CODES["ASL_TOO_LARGE"].shown) < 400
    assert all(entry.rule.endswith((".", ").")) for entry in PROBLEM_CODES.values())
