"""What cannot be: said in a sentence, with what would be possible."""

from __future__ import annotations

import re

import pytest
from dcf_user import Dcf

START = ("session", "start", "desk-1", "--objective", "Help")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("start", "a b", "--objective", "x"), "'a b' cannot be a session id"),
        (("start", "s"), "say what the session is for"),
        (("start", "s", "--objective", "x", "--share", "y"), "'y' is not name=value"),
        (("say", "s", " "), "say something"),
        (("advise", "s"), "say something, as in --recommend TEXT"),
        (("delegate", "s", "x", "--priority", "soon"), "soon"),
        (("delegate", "s", "x", "--timeout", "0"), "--timeout"),
        (("delegate", "s", "x", "--workflow", "none.json"), "there is no such file"),
        (("delegate", "s", "x", "--input", "{"), "1 problem in --input"),
        (("list", "--state", "gone"), "gone"),
    ],
)
def test_what_cannot_be_right_ends_with_2(dcf: Dcf, words: tuple[str, ...], said: str) -> None:
    done = dcf("session", *words)
    assert done.code == 2, done.out
    assert said in done.err
    assert "Traceback" not in done.err


def test_errors_name_what_there_is(dcf: Dcf) -> None:
    assert dcf(*START, "--companion", "billing").code == 0
    for words in (
        ("tasks",), ("companions",), ("watch",), ("guidelines",), ("pause",), ("finalize",),
        ("say", "hello"), ("chat",), ("archive",), ("delegate", "x"), ("hire",), ("join", "me"),
    ):  # fmt: skip
        name, *more = words
        missing = dcf("session", name, "desk-l", *more)
        assert missing.code == 2, words
        assert "did you mean desk-1?" in missing.err, words

    again = dcf(*START)
    assert (again.code, "desk-1" in again.err) == (1, True)
    task = dcf("session", "delegate", "desk-1", "x", "--id", "parcel-1")
    assert task.code == 0, task.err
    near = dcf("session", "task", "desk-1", "parcel-2")
    assert (near.code, "nearest: parcel-1" in near.err) == (2, True)
    unknown = dcf("session", "delegate", "desk-1", "x", "--to", "companion-billing")
    assert unknown.code == 2
    assert re.search(r"companion-billing-[0-9a-f]{6}", unknown.err)
    nobody = dcf("session", "delegate", "desk-1", "x", "--specialization", "biling")
    assert (nobody.code, "nearest: billing" in nobody.err) == (2, True)
    for words in (
        ("delegate", "desk-1", "x", "--skill", "support.check_delivry"),
        ("advise", "desk-1", "--skill", "parcels=support.check_delivry"),
    ):
        skill = dcf("session", *words)
        assert (skill.code, "support.check_delivery" in skill.err) == (2, True), words
    nothing = dcf("explain", "parcel-9")
    assert nothing.code == 2


def test_what_a_state_does_not_allow_says_what_it_does(dcf: Dcf) -> None:
    assert dcf(*START).code == 0
    assert dcf("session", "pause", "desk-1").code == 0
    assert dcf("session", "resume", "desk-1").code == 0
    waits = dcf("session", "delegate", "desk-1", "x", "--id", "never-1", "--json")
    assert "there is none" in waits.json["waits"]
    # Nobody serves its companion yet: the session stays, and says how it ends.
    assert dcf("session", "hire", "desk-1").code == 0
    open_still = dcf("session", "finalize", "desk-1", "--abandon", "--timeout", 0)
    assert open_still.code == 1
    assert "dcf session finalize desk-1 --cancel" in open_still.err
    assert dcf("session", "finalize", "desk-1", "--cancel").code == 0
    for words in (("pause",), ("resume",), ("delegate", "x"), ("hire",)):
        name, *more = words
        refused = dcf("session", name, "desk-1", *more)
        assert (refused.code, "is abandoned" in refused.err) == (1, True), words
    assert (
        dcf("session", "list", "--state", "abandoned", "--json").json["sessions"][0]["session_id"]
        == "desk-1"
    )
