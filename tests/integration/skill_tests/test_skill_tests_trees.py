"""Whole trees of sources: ours, and one of the earlier system, every case of them called."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcf.skill_tests import Choice, make_plan, run_plan
from dcf.skills import generate_all

REPOSITORY = Path(__file__).parents[3]
EARLIER = REPOSITORY / "tests/acceptance/legacy_skills"


@pytest.mark.parametrize(
    ("sources", "cases"),
    [(EARLIER / "library", 54), (EARLIER / "kiosk", 1), (REPOSITORY / "skills_src", None)],
    ids=["library", "kiosk", "ours"],
)
async def test_every_case_of_the_tree_passes(
    sources: Path, cases: int | None, tmp_path: Path
) -> None:
    assert generate_all(sources, tmp_path).ok
    report = await run_plan(make_plan(tmp_path, Choice()))
    assert [one.to_dict() for one in report.outcomes if one.status != "passed"] == []
    passed, total = report.cases
    assert passed == total
    assert total == cases or cases is None
    assert all(entry.cases == entry.cases_passed for entry in report.coverage)
