"""A Task that a person does, listed, shown and answered at the command line."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest
from dcf_user import Dcf, until

FLOW = {
    "StartAt": "Restart",
    "States": {
        "Restart": {
            "Type": "Task",
            "Comment": "Restart the replica on <node>.\nThen look at it.",
            "AgentBinding": {
                "manual": {
                    "by": ["dba", "sre"],
                    "choices": ["yes", "no"],
                    "result": {
                        "type": "object",
                        "properties": {"ticket": {"type": "string"}},
                        "required": ["ticket"],
                    },
                }
            },
            "TimeoutSeconds": 86400,
            "End": True,
        }
    },
}


def tasks(dcf: Dcf, *arguments: str) -> list[dict[str, Any]]:
    done = dcf("tasks", *arguments, "--json")
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = done.json["tasks"]
    return found


@pytest.fixture
def task(dcf: Dcf) -> dict[str, Any]:
    """A task that waits for a person, in the run ``r``."""
    assert dcf("up", "--workers", 1).code == 0
    file = dcf.write("repair.json", FLOW)
    assert dcf("submit", file, "--id", "r", "--input", '{"node": "n-17"}').code == 0
    (found,) = until(lambda: tasks(dcf), "the task")
    return dict(found)


def test_it_is_listed_shown_and_answered_once_whatever_dies(dcf: Dcf, task: dict[str, Any]) -> None:
    assert (task["workflow_id"], task["path"], task["question"]) == ("r", "Restart", "1.1.1")
    assert tasks(dcf, "--by", "sre", "--run", "r") == [task]
    assert tasks(dcf, "--by", "ana") == []
    shown = dcf("tasks").out
    assert "Restart the replica on n-17." in shown and "look at it" not in shown
    assert "dcf tasks show r Restart" in shown
    seen = ("--digest", task["digest"], "--question", "1.1.1")
    whole = dcf("tasks", "show", "r", "Restart").out
    assert "Then look at it." in whole
    assert " ".join(seen) in whole
    why = dcf("explain", "r", "--json").json["reasons"][0]
    assert "dba or sre was asked" in why["why"]
    assert why["command"] == "dcf tasks show r Restart"
    assert dcf("approvals", "--json").json["approvals"] == []

    for note in (dcf.home / "run").glob("worker-*.json"):
        os.kill(int(json.loads(note.read_text())["pid"]), signal.SIGKILL)
    answer = ("tasks", "done", "r", "Restart", "--as", "dba", "--choice", "yes")
    unseen = dcf(*answer, "--json")
    assert (unseen.code, unseen.json["error"]["code"]) == (1, "digest_required")
    unfit = dcf(*answer, *seen, "--json")
    assert (unfit.code, unfit.json["error"]["code"]) == (2, "unfit_answer")
    assert "'ticket' is a required property" in unfit.json["error"]["message"]
    other = dcf("tasks", "done", "r", "Restart", "--as", "ana", "--choice", "yes",
                "--result", '{"ticket": "OPS-1"}', *seen, "--json")  # fmt: skip
    assert (other.code, other.json["error"]["code"]) == (1, "not_an_approver")
    done = dcf(*answer, "--result", '{"ticket": "OPS-1"}', "--note", "fine", *seen)
    assert (done.code, "done, says dba: yes" in done.out) == (0, True), done.err
    late = dcf("tasks", "failed", "r", "Restart", "--as", "sre", "--reason", "no", *seen, "--json")
    assert (late.code, late.json["error"]["code"]) == (1, "no_manual_task")

    assert dcf("down").code == 0
    assert dcf("up", "--workers", 1).code == 0
    ended = dcf("watch", "r", "--json").json
    output = {name: ended["output"][name] for name in ("answer", "by", "note", "ticket")}
    assert output == {"answer": "yes", "by": "dba", "note": "fine", "ticket": "OPS-1"}


def test_what_could_not_be_done_fails_the_run_with_the_reason(
    dcf: Dcf, task: dict[str, Any]
) -> None:
    seen = ("--digest", task["digest"], "--question", task["question"])
    failed = ("tasks", "failed", "r", "Restart", "--as", "sre")
    assert dcf(*failed, *seen, "--json").json["error"]["code"] == "unfit_answer"
    assert dcf(*failed, "--reason", "no access", *seen).code == 0
    ended = dcf("watch", "r", "--json").json
    assert ended["error"]["message"] and "sre: no access" in json.dumps(ended)
