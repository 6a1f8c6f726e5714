"""Talking with a conductor: at a terminal, from a pipe, and leaving in the middle."""

from __future__ import annotations

import json
import signal
import subprocess

from commands import python
from dcf_user import Dcf, until
from terminal import Terminal

PARCEL = "where is the parcel? skill:support.check_delivery order_id=ORD-1004"
TICKET = "what does it say? skill:support.triage_ticket ticket_id=TCK-102"
CHAT = ("-m", "dcf.cli", "session", "chat", "desk-1")


def start(dcf: Dcf) -> None:
    assert dcf("session", "start", "desk-1", "--objective", "Help", "--companions", 1).code == 0


def served(dcf: Dcf) -> bool:
    listed = dcf("session", "companions", "desk-1", "--json").json["companions"]
    return any(one["served"] for one in listed)


def test_rows_change_below_the_line_while_somebody_types(dcf: Dcf) -> None:
    start(dcf)
    with Terminal((python(), *CHAT), cwd=dcf.folder, env=dcf.env) as user:
        user.until("Ctrl-D leaves")
        user.until("desk-1 active: 1 companion, no tasks yet")
        user.type(PARCEL + "\r")
        user.until("where is the parcel")
        # In the middle of the next line, the first task goes from row to row.
        user.type("what does it say? skill:support.tri")
        user.until(r"(?:queued|assigned|ready|running)\s+\d+\.\d s")
        user.until("is done")
        user.type("age_ticket ticket_id=TCK-102\r")
        user.until("is done")
        assert "> what does it say? skill:support.triage_ticket ticket_id=TCK-102" in user.seen
        user.type("/tasks\r")
        user.until("result or reason")
        user.until("succeeded")
        user.type("/pause\r")
        user.until("is paused")
        user.type("/nonsense\r")
        user.until("there is no command /nonsense")
        user.type("/resume\r")
        user.until("is active")
        user.type("/finalize\r")
        user.until("is completed; `dcf session archive desk-1` keeps all of it")
        assert user.end() == 0


def test_whoever_leaves_is_told_how_it_goes_on(dcf: Dcf) -> None:
    start(dcf)
    for key in ("\x04", "\x03"):  # Ctrl-D, Ctrl-C
        with Terminal((python(), *CHAT), cwd=dcf.folder, env=dcf.env) as user:
            user.until("desk-1 active")
            user.type(key)
            user.until("Session desk-1 is active: `dcf session chat desk-1` goes on")
            assert user.end() == 0
    until(lambda: not served(dcf), "the host of the chat has given the companion back")


def test_lines_of_a_pipe_are_turns_one_after_the_other(dcf: Dcf) -> None:
    start(dcf)
    done = subprocess.run(
        [python(), *CHAT],
        cwd=dcf.folder,
        env=dcf.env,
        input=f"{PARCEL}\n\n{TICKET}\n/companions\n/quit\nnobody reads this\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    first, second, companions, end = (
        done.stdout.index(text)
        for text in (f"> {PARCEL}", f"> {TICKET}", "> /companions", "dcf session chat desk-1")
    )
    assert first < second < companions < end
    assert "track_shipment" in done.stdout[first:second]
    assert "classify_ticket" in done.stdout[second:companions]
    assert "nobody reads this" not in done.stdout


def test_ctrl_c_stops_the_watching_and_not_the_session(dcf: Dcf) -> None:
    start(dcf)
    child = dcf.start("session", "watch", "desk-1", "--json")
    until(lambda: served(dcf), "the watch serves the companion")
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    said = json.loads(out)
    assert (said["state"], said["error"]["code"]) == ("active", "interrupted")
    late = dcf("session", "watch", "desk-1", "--timeout", "0.1", "--json")
    assert (late.code, late.json["error"]["code"]) == (1, "not_over")


def test_ctrl_c_ends_a_chat_that_waits_for_its_pipe(dcf: Dcf) -> None:
    start(dcf)
    child = subprocess.Popen(
        [python(), *CHAT],
        cwd=dcf.folder,
        env=dcf.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    dcf.children.append(child)
    until(lambda: served(dcf), "the chat serves the companion")
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "`dcf session chat desk-1` goes on" in said
    assert "Traceback" not in said
