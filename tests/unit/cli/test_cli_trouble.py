"""Which exit code and hint an exception leads to."""

from __future__ import annotations

import pytest

import control_plane as cp
from control_plane.embedded import ServerUnusable
from dcf.cli.trouble import BadInput, EnvironmentTrouble, NotSo, explain_error, listed, summary
from dcf.problem import Problem
from dcf.skills import CatalogUnreadable, InvalidManifest, UnknownSkill
from dcf.tools import InvalidDocument, ToolUnavailable, UnknownServer
from dcf.worker import InvalidHandlers
from dcf.workflow import InvalidWorkflow, NotRedrivable, StillRunning

PROBLEM = Problem("X", "x is wrong", "/x", "mend x")


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (ServerUnusable(), 3),
        (cp.Disconnected(), 3),
        (cp.ServerError(), 3),
        (cp.RunExists(workflow_id="a"), 2),
        (cp.UnknownRun(workflow_id="a"), 2),
        (cp.BadName(what="id", value="?", rule="letters"), 2),
        (cp.PayloadTooLarge(size=2, limit=1), 2),
        (cp.CorruptHistory(workflow_id="a", entry="1-0"), 1),
        (cp.MissingBlob(workflow_id="a", digest="d", key="k"), 1),
        (InvalidWorkflow([PROBLEM]), 2),
        (NotRedrivable("no"), 1),
        (StillRunning("no"), 1),
        (InvalidDocument([PROBLEM]), 2),
        (UnknownServer("a", []), 2),
        (ToolUnavailable("a", "http://a", "refused"), 3),
        (UnknownSkill("a"), 2),
        (InvalidManifest("a", [PROBLEM]), 2),
        (CatalogUnreadable("a", "gone"), 2),
        (InvalidHandlers([PROBLEM]), 2),
        (BadInput([PROBLEM]), 2),
        (EnvironmentTrouble("a", "b", "c"), 3),
        (NotSo("a", "b"), 1),
        (PermissionError(13, "Permission denied", "/x"), 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_exit_code(error: Exception, exit_code: int) -> None:
    trouble = explain_error(error)

    assert trouble is not None
    assert trouble.exit_code == exit_code
    assert trouble.message


def test_a_path_that_a_message_says_is_not_said_twice() -> None:
    assert str(Problem("X", "/x is wrong", "/x", file="a")) == "a: error: /x is wrong [X]"
    assert str(Problem("X", "/xy is wrong", "/x")) == "/x: error: /xy is wrong [X]"


def test_a_blob_that_is_lost_comes_with_what_helps() -> None:
    for lost in (
        cp.MissingBlob(workflow_id="a", digest="d", key="k"),
        cp.DamagedBlob(workflow_id="a", digest="d", key="k", why="is no JSON"),
    ):
        trouble = explain_error(lost)
        assert trouble is not None and "backup" in trouble.hint


@pytest.mark.parametrize("name", ["", "../../etc", "a" * 65])
def test_a_run_whose_id_can_be_none_is_told_the_rule(name: str) -> None:
    trouble = explain_error(cp.UnknownRun(workflow_id=name))

    assert trouble is not None
    assert (trouble.exit_code, trouble.code) == (2, "bad_name")
    assert f"{name!r} cannot be a workflow id: 1 to 64 characters" in trouble.message


@pytest.mark.parametrize(
    "error",
    [cp.Disconnected(), cp.RunExists(workflow_id="a"), cp.UnknownRun(workflow_id="a")],
    ids=lambda value: type(value).__name__,
)
def test_what_a_user_can_mend_comes_with_a_hint(error: Exception) -> None:
    trouble = explain_error(error)

    assert trouble is not None
    assert trouble.hint


def test_listed_problems_are_all_in_the_answer() -> None:
    other = Problem("Y", "y is wrong")
    trouble = explain_error(InvalidWorkflow([PROBLEM, other]))

    assert trouble is not None
    answer = trouble.to_answer()
    assert [problem["code"] for problem in answer.to_json()["problems"]] == ["X", "Y"]
    assert answer.error is not None
    assert answer.error.message == "2 problems"
    assert "x is wrong" in answer.error.details[0]
    assert "y is wrong" in answer.error.details[1]


def test_even_one_trouble_is_a_problem_for_scripts() -> None:
    trouble = explain_error(EnvironmentTrouble("gone", "it is gone", "bring it back"))

    assert trouble is not None
    [problem] = trouble.to_answer().to_json()["problems"]
    assert (problem["code"], problem["hint"]) == ("gone", "bring it back")


def test_a_defect_has_no_explanation() -> None:
    assert explain_error(ZeroDivisionError()) is None


def test_of_many_problems_the_first_of_each_file_are_listed() -> None:
    many = [Problem("X", f"m{n}", file="a.json") for n in range(1234)]
    lines = listed([*many, Problem("X", "other", file="b.json")])

    assert len(lines) == 202
    assert lines[200] == "a.json: … and 1,034 more; --json has all"
    assert "b.json" in lines[201]


def test_the_last_line_of_an_error_names_some_files() -> None:
    found = [Problem("X", "no", file=f"{number}.md") for number in range(8)]
    assert summary(found[:2]) == "2 problems in 0.md, 1.md"
    assert summary(found) == "8 problems in 0.md, 1.md, 2.md, 3.md, 4.md and 3 more"
