"""One runbook, as each format and each program writes it, becomes the same procedure.

``alike/NAME.md`` is what the others (``NAME.*``) are compared with. They are written by hand after
what the programs export.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dcf.sop import Draft, check, draft_of, outcome, read_source
from dcf.sop.formats.asciidoc import program

_FOLDER = Path(__file__).with_name("alike")
_FILES = sorted(
    path.name for path in _FOLDER.iterdir() if path.name.count(".") > 1 or path.suffix != ".md"
)
_MARKS = re.compile(r"[*_`]+")


def _drafted(name: str) -> Draft:
    return draft_of(read_source((_FOLDER / name).read_bytes(), name))


def _told(found: Draft) -> dict[str, Any]:
    made = outcome(found)
    return {
        "title": found.sop.title,
        "steps": [
            (one.number, one.kind, _MARKS.sub("", one.title), one.role, one.choices)
            for one in found.sop.all_steps()
        ],
        "commands": [
            (one.number, command.text) for one in found.sop.all_steps() for command in one.commands
        ],
        "branches": [(one["step"], one["to"]) for one in made["branches"]],
        "jumps": [(one["step"], one["to"]) for one in made["jumps"]],
        "inputs": [one.name for one in found.sop.inputs],
        "rules": [
            re.sub(r"^\W*(?:(?:Warning|Important):\W*)?", "", one.text)
            for one in found.sop.guardrails
        ],
        "questions": [one.asks for one in found.questions],
    }


@pytest.mark.parametrize("name", _FILES)
def test_it_is_the_same_procedure_in_each_format(name: str) -> None:
    if name.endswith(".adoc") and program() is None:
        pytest.skip("Asciidoctor is not installed: tests/soak/test_asciidoc.py installs it")
    found = _drafted(name)
    assert _told(found) == _told(_drafted(f"{name.partition('.')[0]}.md"))
    assert not [one for one in check(found.sop) if one.is_error]


@pytest.mark.parametrize("name", _FILES)
def test_each_step_stands_at_its_line(name: str) -> None:
    if name.endswith(".adoc") and program() is None:
        pytest.skip("Asciidoctor is not installed: tests/soak/test_asciidoc.py installs it")
    rows = (_FOLDER / name).read_text(encoding="utf-8").lower().split("\n")
    for step in outcome(found := _drafted(name))["steps"]:
        title = next(one.title for one in found.sop.all_steps() if one.number == step["number"])
        said = " ".join(rows[step["line"] - 1 : step["last_line"]])
        assert re.findall(r"[a-z]{4,}", title.lower())[0] in said, (step, title)
        assert step["last_line"] - step["line"] < 6
