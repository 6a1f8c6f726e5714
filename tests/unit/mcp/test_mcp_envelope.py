"""Whatever a tool raises becomes an answer, in one place."""

from __future__ import annotations

from typing import Any

import pytest

from control_plane import Disconnected, UnknownAgent, UnknownRun
from dcf.agents.loading import LoadRefused
from dcf.agents.models import ModelBudgetExhausted, ModelNotConfigured
from dcf.mcp.envelope import BadArguments, Legacy, Refused, answer, failure
from dcf.memory import UnknownAgent as NotRemembering
from dcf.problem import Problem
from dcf.skills import UnknownSkill
from dcf.tools import ApprovalRequired, ToolTimeout
from dcf.workflow import InvalidWorkflow


def told(error: BaseException, legacy: Legacy | None = None) -> dict[str, Any]:
    return failure(error, legacy=legacy, warnings=[], new_id=lambda: "id-1")


def test_our_errors_keep_code_and_message() -> None:
    assert told(UnknownRun(workflow_id="r")) == {
        "status": None,
        "error": "unknown_run: There is no run r.",
        "hint": "list_runs has the runs",
    }
    assert "create_agent" in told(UnknownAgent(agent="a"))["hint"]
    own = told(Refused("unknown_state", "no", hint="its own"))
    assert own["hint"] == "its own"
    assert told(ToolTimeout("s", "t", 1))["error"].startswith("DCF.ToolTimeout: ")


def test_hints_name_what_clients_have_and_names_come_once() -> None:
    gone = told(NotRemembering("ada"))
    assert gone["error"].startswith("unknown_agent: ") and "list_agents" in gone["hint"]
    spent = told(ModelBudgetExhausted("m was not asked: the agent has no calls left"))
    assert spent["error"] == "DCF.BudgetExhausted: m was not asked: the agent has no calls left"
    assert "set_budget" in spent["hint"]
    assert "DCF_MODEL" in told(ModelNotConfigured("there is none"))["hint"]


def test_problems_come_along() -> None:
    answer_ = told(InvalidWorkflow([Problem("C", "wrong", "/a", "mend it", line=3)]))
    assert answer_["problems"] == [
        {
            "code": "C",
            "message": "wrong",
            "path": "/a",
            "hint": "mend it",
            "severity": "error",
            "line": 3,
        }
    ]
    assert told(BadArguments([Problem("C", "is bad", "/a")]))["error"] == "bad_arguments: a: is bad"


def test_a_skill_that_is_not_there_has_one_code_wherever_it_is_named() -> None:
    unknown = Problem("SKILL_LOAD_UNKNOWN_SKILL", "there is no skill 'x'")
    missing = Problem("SKILL_MANIFEST_MISSING", "the member 'a' is missing", "/m", "add it")
    assert told(UnknownSkill("x"))["error"] == "unknown_skill: there is no skill 'x'"
    loading = told(LoadRefused([unknown]))
    assert loading["error"] == "unknown_skill: there is no skill 'x'"
    assert "get_skillset" in loading["hint"] and len(loading["problems"]) == 1
    refused = told(LoadRefused([missing, unknown]))
    assert refused["error"] == (
        "skill_load_refused: m: the member 'a' is missing; there is no skill 'x'"
    )
    assert [one["code"] for one in refused["problems"]] == [missing.code, unknown.code]


def test_bad_arguments_always_come_with_problems() -> None:
    (problem,) = told(Refused("bad_arguments", "name either a or b"))["problems"]
    assert problem["message"] == "name either a or b"


def test_a_refusal_brings_its_fields() -> None:
    refused = Refused("not_ready", "later", hint="wait", ready=False)
    assert told(refused) == {
        "status": None,
        "error": "not_ready: later",
        "ready": False,
        "hint": "wait",
    }


def test_what_is_not_foreseen_says_where_the_log_has_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer_ = told(ZeroDivisionError("secret thing"))
    assert answer_["error"].startswith("internal_error: ") and answer_["error_id"] == "id-1"
    assert "secret thing" not in str(answer_)
    assert "id-1" in caplog.text and "secret thing" in caplog.text


def test_credentials_in_addresses_are_not_passed_on() -> None:
    error = Disconnected("cannot reach redis://user:pass@host:6379/0")
    assert told(error)["error"] == "disconnected: cannot reach redis://host:6379/0"


def test_an_error_can_always_be_sent() -> None:
    text = told(Refused("bad", "half \ud800 pair" + "x" * 9_000))["error"]
    assert len(text.encode()) < 5_000


@pytest.mark.parametrize(
    ("legacy", "flags"),
    [("ok", {"ok": False, "exit_code": 4}), ("success", {"success": False}), (None, {})],
)
def test_earlier_flags_are_set(legacy: Legacy | None, flags: dict[str, Any]) -> None:
    base = {"status": None, "error": "c: m"}
    assert told(Refused("c", "m"), legacy) == base | flags


def test_success_has_a_status_and_no_error() -> None:
    assert answer({"a": 1}, legacy="ok", warnings=["w"]) == {
        "status": "ok",
        "error": None,
        "a": 1,
        "warnings": ["w"],
        "ok": True,
        "exit_code": 0,
    }


def test_an_answer_of_sentences_gets_a_code() -> None:
    assert answer({"error": "/a: it is wrong"}, legacy=None, warnings=[])["error"] == (
        "failed: /a: it is wrong"
    )


def test_control_flow_of_tools_is_answered_too() -> None:
    assert issubclass(ApprovalRequired, BaseException)
    assert not issubclass(ApprovalRequired, Exception)
