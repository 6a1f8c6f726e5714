"""Models that cannot be asked are a mistake of the settings, told before anything starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dcf.cli.entry import run_command
from dcf.cli.failure_hint import run_hint
from dcf.cli.model_check import demand_models, model_checks, model_troubles
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput

WRONG = {"DCF_MODEL": "opnai:x", "AMSP_TIER_1_MODEL": "anthropic:claude-haiku-4-5"}


def test_all_models_that_cannot_be_asked_are_told_at_once() -> None:
    with pytest.raises(BadInput) as caught:
        demand_models(Settings.from_env(WRONG))
    assert [problem.file for problem in caught.value.problems] == ["DCF_MODEL", "AMSP_TIER_1_MODEL"]


def test_the_doctor_shows_each_model_and_the_rehearsal_where_there_is_none() -> None:
    mixed = {**WRONG, "DCF_MODEL_PLANNER": "openai:gpt-5", "OPENAI_API_KEY": "sk-not-shown"}
    found = model_checks(Settings.from_env(mixed))
    assert [(check.name, check.ok) for check in found] == [
        ("model DCF_MODEL_PLANNER", True),
        ("model DCF_MODEL", False),
        ("model AMSP_TIER_1_MODEL", False),
    ]
    assert "sk-not-shown" not in repr(found)
    (none,) = model_checks(Settings.from_env({}))
    assert "rehearsal" in none.found


def test_commands_that_work_on_nothing_do_not_ask_for_keys() -> None:
    assert Settings.from_env(WRONG).env == WRONG
    assert model_troubles(Settings.from_env({})) == []


def test_a_run_that_failed_by_its_model_says_where_to_look() -> None:
    assert "dcf doctor" in run_hint("DCF.ModelRefused", Path())


def test_a_run_is_refused_for_the_models_that_its_bindings_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DCF_HOME", str(tmp_path))
    monkeypatch.setenv("DCF_MODEL", "opnai:x")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    binding = {"agent_template_ref": {"name": "any"}, "model": "anthropic:claude-haiku-4-5"}
    task = {"Type": "Task", "AgentBinding": binding, "End": True}
    file = tmp_path / "flow.json"
    file.write_text(json.dumps({"StartAt": "A", "States": {"A": task}}))
    assert run_command(["run", str(file), "--json"]) == 2
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert [(one["code"], one["file"]) for one in problems if one["severity"] == "error"] == [
        ("MODEL_PROVIDER", "DCF_MODEL"),
        ("MODEL_KEY", str(file)),
    ]
