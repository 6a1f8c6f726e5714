"""The rules of the Strategist: defaults, a user's file, and all that is wrong with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dcf.advisors.strategist import InvalidRules, StrategistRules


def test_the_defaults_are_the_documented_thresholds() -> None:
    rules = StrategistRules.default()
    assert (rules.confidence, rules.false_alarms, rules.min_observations) == (0.7, 0.05, 5)
    assert rules.expiry_ms == 30 * 86_400_000
    assert (rules.skills.failure, rules.skills.gain) == (0.25, 0.15)
    companions = rules.companions
    assert (companions.affinity, companions.success_delta, companions.speed_gain) == (0.8, 0.2, 0.3)
    assert (rules.scaling.idle, rules.scaling.idle_ms) == (2, 300_000)
    tiers = rules.tiers
    assert (tiers.escalation, tiers.lower_success) == (0.15, 0.8)
    assert (tiers.cost_deviation, tiers.top_share) == (0.2, 0.1)


def test_a_file_changes_what_it_names(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("skills:\n  failure: 0.4\n", encoding="utf-8")
    default = StrategistRules.default()
    expected = replace(default, skills=replace(default.skills, failure=0.4))
    assert StrategistRules.load(file) == expected
    file.write_text("# nothing yet\n", encoding="utf-8")
    assert StrategistRules.load(file) == default


def test_all_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "confidence: 2\nskills:\n  failures: 0.4\nscaling:\n  idle: many\n", encoding="utf-8"
    )
    with pytest.raises(InvalidRules) as invalid:
        StrategistRules.load(file)
    told = sorted((one.line, one.path, one.code) for one in invalid.value.problems)
    assert told == [
        (1, "/confidence", "STRATEGIST_VALUE"),
        (3, "/skills/failures", "STRATEGIST_UNKNOWN"),
        (5, "/scaling/idle", "STRATEGIST_TYPE"),
    ]
    assert {one.file for one in invalid.value.problems} == {str(file)}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("scaling: [", "STRATEGIST_YAML_SYNTAX", 1),
        ("scaling:\n  min_companions: 9\n", "STRATEGIST_SCALING", 2),
        ("- 1\n", "STRATEGIST_TYPE", 1),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, code: str, line: int) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRules) as invalid:
        StrategistRules.load(file)
    (problem,) = invalid.value.problems
    assert (problem.code, problem.line) == (code, line)


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(InvalidRules, match="cannot be read"):
        StrategistRules.load(tmp_path / "none.yaml")


def test_rules_of_a_document_have_no_line() -> None:
    with pytest.raises(InvalidRules) as invalid:
        StrategistRules.from_document({"tiers": {"top_share": 3}})
    (problem,) = invalid.value.problems
    assert (problem.path, problem.file, problem.line) == ("/tiers/top_share", None, None)
