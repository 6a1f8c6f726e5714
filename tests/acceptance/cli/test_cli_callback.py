"""``dcf callback``: a Task that waits is answered from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from dcf_user import Dcf, until

HANDLERS = """
import asyncio
from pathlib import Path
from dcf.worker import current_work

async def ask(arguments):
    Path("token.txt").write_text(current_work().task_token)

HANDLERS = {"ask": ask}
"""

FLOW = {
    "StartAt": "Ask",
    "States": {
        "Ask": {
            "Type": "Task",
            "Resource": "ask.waitForTaskToken",
            "HeartbeatSeconds": 600,
            "End": True,
        }
    },
}


@pytest.fixture
def token(dcf: Dcf) -> str:
    """The token of a Task that waits."""
    dcf("up")
    dcf.write("asking.py", HANDLERS)
    dcf.worker("--handlers", "asking:HANDLERS")
    assert dcf("submit", dcf.write("flow.json", FLOW), "--id", "asked").code == 0
    file = Path(dcf.folder, "token.txt")
    return str(until(lambda: file.is_file() and file.read_text(), "the token"))


def status(dcf: Dcf) -> str:
    return str(dcf("explain", "asked", "--json").json["run_status"])


def test_an_answer_ends_the_waiting(dcf: Dcf, token: str) -> None:
    beat = dcf("callback", token, "--heartbeat", "--json")
    assert (beat.code, beat.json["callback"]) == (0, "heartbeat")
    done = dcf("callback", token, "--result", '{"approved": true}', "--json")
    assert (done.code, done.json["workflow_id"], done.json["state"]) == (0, "asked", "Ask")
    until(lambda: status(dcf) == "succeeded", "the end of the run")

    again = dcf("callback", token, "--result", "2", "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "task_expired")
    assert "Traceback" not in again.err


def test_an_error_fails_the_task(dcf: Dcf, token: str) -> None:
    assert dcf("callback", token, "--error", "Refused", "--cause", "over the limit").code == 0
    until(lambda: status(dcf) == "failed", "the end of the run")
    assert "Refused: over the limit" in dcf("explain", "asked").out


def test_what_cannot_be_right_is_said(dcf: Dcf, token: str) -> None:
    unknown = dcf("callback", "nonsense", "--result", "1", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (2, "unknown_task_token")
    for words in ((), ("--result", "1", "--heartbeat"), ("--result", "{"), ("--cause", "x")):
        assert dcf("callback", token, *words).code == 2
    assert status(dcf) == "running"
