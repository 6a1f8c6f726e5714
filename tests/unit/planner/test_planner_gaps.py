"""A step that no skill covers: told with a draft, which then covers it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dcf.planner import Market, Plan, ToolResults, compile_sop, write_drafts
from dcf.problem import has_errors
from dcf.search import embedder_named
from dcf.skills import SkillCatalog, generate_all
from dcf.skills.discovery import SkillSearch
from dcf.sop import parse

ROOT = Path(__file__).parents[3]
TEXT = """# Hire a colleague

## Objective

The new colleague can work.

## Inputs

- `employee_id` (string)
- `days` (integer)

## Outputs

- `laptop_id` (string)
- `is_ready` (boolean)

## Steps

1. Buy a laptop
   - Reads: `employee_id`, `days`
   - Writes: `laptop_id`
2. Wire up the desk: "plug it in", and \\\\ check
   - Writes: `is_ready`
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the project's sources, with what is generated of them beside it."""
    shutil.copytree(ROOT / "skills_src", tmp_path / "skills_src")
    shutil.copytree(ROOT / "generated", tmp_path / "generated")
    return tmp_path


def planned(folder: Path) -> Plan:
    sop = parse(TEXT, "hire.md").sop
    assert sop is not None
    generated = folder / "generated"
    catalog = SkillCatalog.load(generated)
    finder = SkillSearch(folder / "index.db", embedder_named("wordllama"))
    return compile_sop(sop, Market(catalog, finder, ToolResults.load(generated)))


def test_the_draft_is_valid_and_covers_the_step(sources: Path) -> None:
    before = planned(sources)

    made = write_drafts(sources / "skills_src", sources / "generated", before.gaps)
    generated = generate_all(sources / "skills_src", sources / "generated")
    after = planned(sources)

    assert [gap.step.number for gap in before.gaps] == ["1", "2"]
    assert made.problems == []
    assert not has_errors(generated.problems), generated.problems
    assert after.gaps == ()
    assert [step.skills for step in after.steps] == [
        ("hire_a_colleague.buy_a_laptop@0.1.0",),
        ("hire_a_colleague.wire_up_the_desk_plug_it_in_and_check@0.1.0",),
    ]
    assert after.document is not None
    assert after.problems == ()


def test_a_gap_names_what_comes_nearest_and_what_it_would_take_and_give(sources: Path) -> None:
    laptop, desk = planned(sources).gaps

    assert len(laptop.nearest) == 3
    assert dict(laptop.takes) == {"employee_id": "string", "days": "integer"}
    assert dict(desk.gives) == {"is_ready": "boolean"}
    assert laptop.tool == "hire_a_colleague:buy_a_laptop"


def test_drafts_overwrite_nothing(sources: Path) -> None:
    found = planned(sources)
    write_drafts(sources / "skills_src", sources / "generated", found.gaps)

    again = write_drafts(sources / "skills_src", sources / "generated", found.gaps)

    assert {one.code for one in again.problems} == {"SKILL_NEW_EXISTS"}
    assert again.written == []
