"""``dcf memory threads``: what other programs keep, as their user sees it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from dcf_user import until
from memory_user import MemoryUser

SAMPLES = Path(__file__).parents[2] / "data" / "transcripts"


def test_threads_are_synced_listed_and_shown_with_their_tools(memory: MemoryUser) -> None:
    synced = memory("threads", "sync", SAMPLES / "claude_code.jsonl", "--json")
    assert synced.code == 2, "a torn line is told"
    answer = json.loads(synced.out)
    assert [(one["line"], Path(one["file"]).name) for one in answer["problems"]] == [
        (7, "claude_code.jsonl")
    ]
    assert (answer["total"]["threads"], answer["total"]["turns"]) == (2, 6)
    assert answer["total"]["left_out"] == {"file-history-snapshot": 1}
    listed = memory("threads", "list")
    assert "Mend the rounding of invoices" in listed.out and "sent by 5f0c" in listed.out
    shown = memory("threads", "show", "5f0c")
    assert "Bash(command: pytest -q), failed" in shown.out
    whole = memory("threads", "show", "5f0c", "--turn", "3", "--json")
    (turn,) = json.loads(whole.out)["turns"]
    assert turn["citation"] == "dcf://thread/5f0c/turn/3"
    assert turn["tools"][0]["output"].endswith("1 failed, 4 passed in 0.20s")


def test_what_is_unknown_is_said_to_be_kept(memory: MemoryUser) -> None:
    file = memory.folder / "s.jsonl"
    said = {"type": "user", "uuid": "1", "sessionId": "s", "message": {"content": "Hello."}}
    dream = {"type": "dream", "uuid": "2", "sessionId": "s", "of": "the sea"}
    file.write_text(json.dumps(said) + "\n" + json.dumps(dream) + "\n")
    synced = memory("threads", "sync", "s.jsonl")
    assert synced.code == 0 and "unknown, kept: dream 1" in synced.out
    assert "the sea" in memory("threads", "show", "s").out


def test_a_project_is_a_folder_and_may_be_said_later(memory: MemoryUser) -> None:
    file = memory.folder / "s.jsonl"
    said = {"type": "user", "uuid": "1", "sessionId": "s", "message": {"content": "Hello."}}
    file.write_text(json.dumps(said) + "\n")
    os.utime(file, (1_700_000_000, 1_700_000_000))

    def project(*order: str) -> str:
        assert memory("threads", "sync", "s.jsonl", *order).code == 0
        (thread,) = json.loads(memory("threads", "list", "--json").out)["threads"]
        return str(thread["project"])

    assert project() == ""
    assert project("--project", ".") == str(memory.folder.resolve())
    assert project() == str(memory.folder.resolve())
    assert "1 unchanged" in memory("threads", "sync", "s.jsonl", "--project", ".").out
    assert project("--project", "shop") == "shop"


def test_what_cannot_be_synced_or_shown_is_said(memory: MemoryUser) -> None:
    assert memory("threads", "sync", "nowhere").code == 2
    assert "there is nothing at nowhere" in memory("threads", "sync", "nowhere").err
    (memory.folder / "notes.txt").write_text("soup\n")
    unknown = memory("threads", "sync", "notes.txt")
    assert unknown.code == 2 and "the format is not known" in unknown.out + unknown.err
    wrong = memory("threads", "sync", "notes.txt", "--format", "soup")
    assert wrong.code == 2 and "there is no format 'soup'" in wrong.err
    assert memory("threads", "show", "nobody").code != 0


def test_a_file_that_grows_is_followed(memory: MemoryUser) -> None:
    file = memory.folder / "s.jsonl"

    def say(number: int) -> None:
        said = {"type": "user", "uuid": f"{number}", "sessionId": "s"}
        with file.open("a") as opened:
            opened.write(json.dumps({**said, "message": {"content": f"word {number}"}}) + "\n")

    say(1)
    watching = memory.start("threads", "sync", "s.jsonl", "--watch")
    assert watching.stdout is not None
    lines = iter(watching.stdout.readline, "")
    until(lambda: "1 thread, 1 turn" in next(lines), "the first synchronisation")
    # The watcher cannot tell of a name that is not in UTF-8.
    (memory.folder / os.fsdecode(b"\xff.jsonl")).touch()
    say(2)
    until(lambda: "1 thread, 2 turns" in next(lines), "the change")
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=30)
    assert watching.returncode == 0 and "stopped after" in out and err == ""
