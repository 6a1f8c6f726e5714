"""The archive of a session: all of it, whole or not at all, and no secrets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from control_plane import BadName, CorruptHistory, Store, UnknownSession, claims, keys
from control_plane.twin import Twin
from dcf.sessions import Draft, NewCompanion, Order, Sessions, inbox_of, seat_of
from dcf.sessions.archive import write_archive
from dcf.sessions.draft import PAGE
from dcf.workflow import External, RunCache, Succeeded

NOW_MS = 1_790_000_000_000
FILES = {
    "delegations.json",
    "history.jsonl",
    "results.json",
    "session.json",
    "tasks.json",
    "transcript.jsonl",
    "transcript.md",
}


@pytest.fixture
async def sessions() -> AsyncIterator[Sessions]:
    """A control plane with the session ``s1`` of ``boss`` and the companion ``companion-ann``,
    which somebody serves."""
    backend = Twin(lambda: NOW_MS * 1_000, strict_keys=False)
    made = Sessions(Store(backend))
    await made.create("s1", "boss", "help people", shared_data={"api_key": "abcdef123456"})
    await made.employ("s1", NewCompanion("boss", name="ann"))
    await claims.put(backend, keys.COMPANIONS, seat_of("s1", "companion-ann"), NOW_MS + 10**6)
    await made.take_seat("s1", "companion-ann")
    yield made
    await backend.close()


async def work(sessions: Sessions, task_id: str, result: Any, **more: Any) -> None:
    """Delegate a task and do it."""
    await sessions.delegate("s1", Order(f"Do {task_id}.", "boss", task_id=task_id, task_type="do"))
    store = sessions.store_of(inbox_of("s1", "companion-ann"))
    external = External(store, RunCache(store))
    taken = await external.take(task_id, "do", owner="companion-ann")
    assert isinstance(taken, tuple), taken
    done = Succeeded(result, summary=f"{task_id} is done", **more)
    await external.finish(task_id, "do", taken[0].token, done)
    await sessions.tick("s1")


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def lines(folder: Path, name: str) -> list[Any]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


async def test_an_archive_has_all_of_the_session(sessions: Sessions, tmp_path: Path) -> None:
    await sessions.say(
        "s1", "Said", role="user", text="Help me.\n**conductor** · now", request="r1"
    )
    await work(sessions, "task-1", {"found": 1}, artifacts=["a.txt"])
    await sessions.end("s1", by="boss")
    folder = await write_archive(sessions, "s1", tmp_path)
    assert folder == tmp_path / "s1"
    assert {one.name for one in folder.iterdir()} == FILES
    head = read(folder, "session.json")
    assert (head["state"], head["snapshot"], head["objective"]) == (
        "completed", False, "help people",
    )  # fmt: skip
    assert head["counts"] == {
        "delegated": 1, "succeeded": 1, "failed": 0, "partial": 0, "cancelled": 0, "open": 0,
    }  # fmt: skip
    (companion,) = head["companions"]
    assert companion["companion_id"] == "companion-ann"
    (task,) = read(folder, "tasks.json")
    assert (task["task_id"], task["status"]) == ("task-1", "succeeded")
    (result,) = read(folder, "results.json")
    assert result["output"]["data"] == {"found": 1}
    assert result["output"]["artifacts"] == ["a.txt"] and result["summary"] == "task-1 is done"
    (delegation,) = read(folder, "delegations.json")
    assert (delegation["companion_name"], delegation["result_status"]) == ("ann", "succeeded")
    history = lines(folder, "history.jsonl")
    assert history[0]["type"] == "SessionCreated" and history[-1]["type"] == "SessionCompleted"
    assert len(history) == head["events"] and all(one["chain"] for one in history)
    (said,) = lines(folder, "transcript.jsonl")
    assert (said["role"], said["request"]) == ("user", "r1")
    # What a text says cannot be taken for another's turn.
    page = (folder / "transcript.md").read_text(encoding="utf-8").splitlines()
    assert page[-2:] == ["> Help me.", "> **conductor** · now"]


async def test_a_session_that_goes_on_is_archived_as_a_snapshot(
    sessions: Sessions, tmp_path: Path
) -> None:
    await sessions.delegate("s1", Order("Wait.", "boss", task_id="task-1"))
    folder = await write_archive(sessions, "s1", tmp_path)
    head = read(folder, "session.json")
    assert (head["state"], head["snapshot"], head["counts"]["open"]) == ("active", True, 1)
    (result,) = read(folder, "results.json")
    assert result["status"] == "assigned" and "output" not in result


async def test_tasks_on_pages_are_archived_too(sessions: Sessions, tmp_path: Path) -> None:
    await work(sessions, "task-1", {})

    def many(draft: Draft) -> None:
        (task,) = draft.tasks.values()
        for number in range(2, PAGE + 3):
            other = f"task-{number}"
            draft.put(replace(task, task_id=other, told=True, first_at=None))

    _, session = await sessions.change("s1", many)
    assert session.head.pages == 1
    folder = await write_archive(sessions, "s1", tmp_path)
    ids = {one["task_id"] for one in read(folder, "tasks.json")}
    assert ids == {f"task-{number}" for number in range(1, PAGE + 3)}


async def test_a_large_result_is_a_file_beside(sessions: Sessions, tmp_path: Path) -> None:
    text = "long " * 200_000
    await work(sessions, "task-1", {"text": text})
    folder = await write_archive(sessions, "s1", tmp_path)
    (result,) = read(folder, "results.json")
    assert result["output_file"] == "results/task-1.json" and "output" not in result
    assert read(folder, "results/task-1.json")["data"] == {"text": text}
    assert (folder / "results/task-1.json").stat().st_size == result["output_size"] + 1


async def test_a_result_that_is_gone_is_said_to_be(sessions: Sessions, tmp_path: Path) -> None:
    await work(sessions, "task-1", {"found": 1})
    for key in await sessions.backend.command("KEYS", "*task-1*"):
        await sessions.backend.command("DEL", key)
    folder = await write_archive(sessions, "s1", tmp_path)
    (result,) = read(folder, "results.json")
    assert "task-1" in result["missing"] and result["summary"] == "task-1 is done"


async def test_secrets_are_taken_out_of_every_file(sessions: Sessions, tmp_path: Path) -> None:
    secret, spoken = "ghp_abcdefghijklmnop1234", "hunter2hunter2"
    await sessions.say("s1", "Said", role="user", text=f"password={spoken} and {secret}")
    await sessions.delegate("s1", Order(f"Use {secret}.", "boss", input={"password": spoken}))
    await sessions.tick("s1")
    folder = await write_archive(sessions, "s1", tmp_path)
    told = "".join(one.read_text() for one in folder.rglob("*") if one.is_file())
    assert [found for found in (secret, spoken, "abcdef123456") if found in told] == []
    assert read(folder, "session.json")["context"]["shared_data"] == {"api_key": "[redacted]"}
    (said,) = [one for one in lines(folder, "history.jsonl") if one["type"] == "Said"]
    assert said["redacted"] is True and said["text"].startswith("password=[redacted]")


async def test_archiving_again_takes_the_place_of_what_was_there(
    sessions: Sessions, tmp_path: Path
) -> None:
    folder = await write_archive(sessions, "s1", tmp_path)
    (folder / "old.json").write_text("{}")
    await sessions.end("s1", by="boss")
    assert await write_archive(sessions, "s1", tmp_path) == folder
    assert {one.name for one in folder.iterdir()} == FILES
    assert read(folder, "session.json")["state"] == "completed"
    assert {one.name for one in tmp_path.iterdir()} == {"s1"}


async def test_who_fails_on_the_way_leaves_the_archive_of_before(
    sessions: Sessions, tmp_path: Path
) -> None:
    folder = await write_archive(sessions, "s1", tmp_path)
    before = (folder / "history.jsonl").read_bytes()
    await sessions.say("s1", "Said", role="user", text="Hello?")
    history = sessions.records.keys("s1").history
    newest = await sessions.backend.command("XREVRANGE", history, "+", "-", "COUNT", 1)
    await sessions.backend.command("XDEL", history, newest[0][0])
    with pytest.raises(CorruptHistory):
        await write_archive(sessions, "s1", tmp_path)
    assert (folder / "history.jsonl").read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} == {"s1"}


async def test_what_a_killed_process_left_is_put_right(sessions: Sessions, tmp_path: Path) -> None:
    """Killed between taking the old folder away and putting the new one in its place, and then
    failing again: the old one is back."""
    folder = await write_archive(sessions, "s1", tmp_path)
    folder.rename(tmp_path / ".s1.old")
    (tmp_path / ".s1.part").mkdir()
    (tmp_path / ".s1.part" / "half.json").write_text("{")
    history = sessions.records.keys("s1").history
    await sessions.backend.command("DEL", history)
    with pytest.raises(CorruptHistory):
        await write_archive(sessions, "s1", tmp_path)
    assert {one.name for one in folder.iterdir()} == FILES
    assert {one.name for one in tmp_path.iterdir()} == {"s1"}


@pytest.mark.parametrize("session_id", ["..", "../s1", "a/b", "", ".s1", "/etc", "a\n"])
async def test_an_id_cannot_lead_out_of_the_folder(
    sessions: Sessions, tmp_path: Path, session_id: str
) -> None:
    with pytest.raises(BadName):
        await write_archive(sessions, session_id, tmp_path / "sessions")
    assert list(tmp_path.iterdir()) == []


async def test_a_session_that_is_not_there_leaves_nothing(
    sessions: Sessions, tmp_path: Path
) -> None:
    with pytest.raises(UnknownSession):
        await write_archive(sessions, "s2", tmp_path / "sessions")
    assert list(tmp_path.iterdir()) == []


async def test_a_link_in_the_place_of_the_folder_is_not_followed(
    sessions: Sessions, tmp_path: Path
) -> None:
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "sessions"
    elsewhere.mkdir()
    root.mkdir()
    (root / "s1").symlink_to(elsewhere)
    folder = await write_archive(sessions, "s1", root)
    assert folder.is_dir() and not folder.is_symlink()
    assert list(elsewhere.iterdir()) == []
