"""Sessions at the command line: what a row says, and why a task waits."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from dcf.cli.health_overview import hosts_part, sessions_part
from dcf.cli.open_sessions import OpenSessions
from dcf.cli.session.board import SessionBoard, build_board
from dcf.cli.session.live_chat import live_rows
from dcf.cli.session.numbers import task_id_of
from dcf.cli.session.reply_text import aligned, parts_of
from dcf.cli.session.starting import named_values
from dcf.cli.session.stdin_lines import lines_of
from dcf.cli.session.tables import (
    CompanionTable,
    TaskTable,
    changes,
    cut,
    row_line,
    staff_changes,
)
from dcf.cli.trouble import NotSo
from dcf.sessions import Companion, Context, Counts, Head, Session, SessionTask

T0 = 1_000_000


def task(task_id: str, **fields: Any) -> SessionTask:
    defaults = {
        "task_type": "mail",
        "description": f"do {task_id}",
        "by": "conductor",
        "delegated_at": T0,
        "deadline_at": T0 + 300_000,
    }
    return SessionTask(task_id, **{**defaults, **fields})


def board(
    *tasks: SessionTask,
    state: Any = "active",
    now: int = T0,
    unserved: frozenset[str] = frozenset(),
    doing: dict[str, str] | None = None,
) -> SessionBoard:
    companion = Companion("companion-a", "a", T0, "conductor", seated_at=T0, idle_since=T0)
    counts = Counts(delegated=len(tasks), succeeded=2, failed=1)
    head = Head("Help", ("conductor",), T0, state=state, counts=counts)
    session = Session(
        "desk-1", 1, T0, head, Context(), {"companion-a": companion}, {},
        {one.task_id: one for one in tasks},
    )  # fmt: skip
    return build_board(session, tasks, doing or {}, now, unserved)


def found(one: SessionBoard) -> list[str]:
    return [row.found for row in one.rows]


def test_a_task_that_waits_says_why() -> None:
    first, second = task("t1"), task("t2", after=("t1",))
    assert "companion-a idle" in found(board(first))[0]
    assert found(board(first, unserved=frozenset({"companion-a"}))) == ["nobody serves companion-a"]
    assert found(board(first, second, unserved=frozenset({"companion-a"})))[1] == (
        "it waits for t1"
    )
    assert found(board(first, state="paused", unserved=frozenset({"companion-a"}))) == [
        "the session is paused"
    ]


def test_a_task_whose_companion_is_gone_says_so() -> None:
    given = task("t1", status="assigned", companion_id="companion-a")
    assert found(board(given)) == [""]
    assert found(board(given, unserved=frozenset({"companion-a"}))) == ["nobody serves companion-a"]


def test_what_came_of_a_task_stands_in_its_row() -> None:
    done = task("t1", status="succeeded", summary="sent", finished_at=T0 + 1_500)
    failed = task("t2", status="failed", error={"code": "no_mail", "message": "refused"})
    rows = board(done, failed, now=T0 + 9_000).rows
    assert [(row.found, row.seconds) for row in rows] == [("sent", 1.5), ("no_mail: refused", 9.0)]


def test_the_run_says_how_far_a_task_is() -> None:
    [row] = board(task("t1", status="assigned"), doing={"t1": "running"}).rows
    assert (row.status, row.to_json()["status"]) == ("running", "assigned")


def test_only_what_changed_is_a_line() -> None:
    before = board(task("t1"), task("t2"))
    after = board(task("t1"), task("t2", status="assigned", companion_id="companion-a"))
    assert list(changes(before, before)) == []
    [line] = changes(before, after)
    assert line == "t2 'do t2' assigned by companion-a, 0.0 s"
    assert len(list(changes(None, after))) == 2
    [ended] = changes(board(), board(state="completed"))
    assert ended == "session desk-1: completed"


def test_companions_that_come_go_or_are_lost_are_a_line() -> None:
    before = board()
    here = before.session.companions["companion-a"]
    came = replace(here, companion_id="companion-b", specialization="billing")
    lost = replace(here, status="lost", reason="nobody serves it")
    gone = replace(here, status="dismissing", reason="the session ended")

    def with_staff(companions: dict[str, Companion], **former: Companion) -> SessionBoard:
        session = replace(
            before.session,
            companions=companions,
            former={one.companion_id: one for one in former.values()},
        )
        return replace(before, session=session)

    assert list(staff_changes(None, before)) == []
    assert list(staff_changes(before, with_staff({"companion-a": here, "companion-b": came}))) == [
        "companion-b came: billing"
    ]
    assert list(staff_changes(before, with_staff({"companion-a": lost}))) == [
        "companion-a is lost: nobody serves it"
    ]
    assert list(staff_changes(before, with_staff({}, gone=gone))) == [
        "companion-a left: the session ended"
    ]


def test_a_task_that_waits_for_a_person_says_with_what_to_answer() -> None:
    given = task("t1", status="assigned", companion_id="companion-a")
    [row] = board(given, doing={"t1": "waiting (approval)"}).rows
    assert (row.status, row.found) == ("waiting (approval)", "waits for approval: `dcf approvals`")


def numbered(*tasks: SessionTask) -> SessionBoard:
    """A board of tasks that a conductor by rule calls 1, 2, …; the one after the last waits."""
    items = [
        {"number": at, "position": at, "text": one.description, "task_id": one.task_id}
        for at, one in enumerate(tasks, 1)
    ]
    items.append({"number": len(items) + 1, "position": 9, "text": "the next", "status": "asked"})
    request: Any = {"request_id": "r-1", "at": T0, "stem": "r-1", "items": items}
    session = replace(board(*tasks).session, requests={"requests": [request]})
    return build_board(session, tasks, {}, T0)


def test_a_task_is_called_by_the_number_that_its_conductor_gave_it() -> None:
    one = numbered(task("t1"), task("7"))
    assert [(row.number, row.name) for row in one.rows] == [(1, "1 (t1)"), (2, "2 (7)")]
    assert row_line(one.rows[0]).startswith("1 (t1) 'do t1' queued")
    # An id goes before a number; what is neither is told as it is.
    said = {"1": "t1", "2": "7", "t1": "t1", "7": "7", "5": "5", "gone": "gone"}
    assert {one_said: task_id_of(one.session, one_said) for one_said in said} == said
    with pytest.raises(NotSo, match=r"3 .'the next'. is no task yet: it is asked"):
        task_id_of(one.session, "3")


def test_rows_of_what_is_over_make_room_after_a_moment() -> None:
    def live(now: int) -> list[str]:
        over = [
            task(f"t{at}", status="succeeded", finished_at=T0 + at, summary="x") for at in range(6)
        ]
        return [row.task_id for row in live_rows(board(*over, task("open"), now=now))]

    assert live(T0 + 10) == ["t0", "t1", "t2", "t3", "t4", "t5", "open"]
    assert live(T0 + 60_000) == ["t3", "t4", "t5", "open"]


def drawn(part: Any, width: int) -> str:
    console = Console(width=width, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(part)
    return console.export_text()


def test_where_a_table_has_no_room_ids_of_companions_stay_whole() -> None:
    one = Companion(
        "companion-logistics-0f3c5a", "a", T0, "conductor", specialization="logistics",
        skills=("support.check_delivery",), status="busy", task_id="r-58f59074-9bc16c24-01",
        seated_at=T0,
    )  # fmt: skip
    lines = drawn(CompanionTable([one], T0, frozenset()), 80).splitlines()
    assert lines[0].rstrip() == "logistics-0f3c5a  logistics  busy (nobody serves it)"
    assert lines[1].strip() == "0 done, 0 failed, has r-58f59074-9bc16c24-01"
    assert lines[2].strip() == "support.check_delivery"
    assert "logistics-0f3c5a" in drawn(CompanionTable([one], T0, frozenset()), 140)


def test_tables_in_an_answer_are_columns_with_what_is_long_below() -> None:
    long = "x" * 60
    rows = f"| # | task | result |\n|--|:--|--|\n| 1 | a \\| b | {long} |\n| 10 | c | |"
    text = f"All is done.\n\n{rows}\n\nBye"
    before, table, after = parts_of(text)
    assert (before, after) == ("All is done.\n", "\nBye")
    assert table == [["#", "task", "result"], ["1", "a | b", long], ["10", "c", ""]]
    assert list(aligned(table, 80)) == ["#   task", "1   a | b", f"    {long}", "10  c"]
    assert list(aligned(table[:2], 7)) == ["#", "1", "    a | b", f"    {long}"]
    assert list(parts_of("a | b\nno table")) == ["a | b\nno table"]


def test_the_table_tells_all_of_it_in_its_first_line() -> None:
    console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(TaskTable(board(task("t1"))))
    text = console.export_text()
    assert "active  desk-1: Help  (1 companion, tasks: 1 open, 2 done, 1 failed)" in text


def test_where_a_table_has_no_room_each_task_is_a_few_lines() -> None:
    console = Console(width=80, record=True, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    given = task("r-58f59074-9bc16c24-01", status="assigned", companion_id="companion-billing-1")
    console.print(TaskTable(board(given), "a note"))
    first, row, what, *_, note = console.export_text().splitlines()
    assert first.startswith("active  desk-1: Help")
    assert row.startswith("r-58f59074-9bc16c24-01  assigned  ") and row.endswith("by billing-1")
    assert what.strip() == "do r-58f59074-9bc16c24-01"
    assert note == "a note"


def test_a_text_of_many_lines_is_one_line_of_a_row() -> None:
    assert cut("a\n  b\tc", 60) == "a b c"
    assert cut("x" * 61, 60) == "x" * 59 + "…"
    assert row_line(board(task("t1", description="a\nb")).rows[0]).startswith("t1 'a b' queued")


def test_values_that_are_json_are_what_they_say() -> None:
    given = ["n=1", "name=Ada", "list=[1, 2]", "text=a=b", "empty="]
    assert named_values(given) == {
        "n": 1, "name": "Ada", "list": [1, 2], "text": "a=b", "empty": ""
    }  # fmt: skip


async def test_lines_come_as_they_are_written_and_the_last_without_an_end() -> None:
    reads, writes = os.pipe()
    with os.fdopen(reads) as source:
        lines = lines_of(source)
        os.write(writes, b"first\nsec")
        async with asyncio.timeout(10):
            assert await anext(lines) == "first"
            os.write(writes, "ond\nthird ä".encode())
            os.close(writes)
            assert [line async for line in lines] == ["second", "third ä"]


@pytest.mark.parametrize(
    ("living", "started", "status"),
    [
        (["h1"], [], "healthy"),
        (["h1", "companions-1-a"], ["companions-1-a"], "healthy"),
        (["h1"], ["companions-1-a"], "unhealthy"),
        ([], [], "not running"),
    ],
)
def test_a_host_of_dcf_up_that_gives_no_sign_is_missed(
    living: list[str], started: list[str], status: str
) -> None:
    assert hosts_part(living, started).status == status


def test_open_sessions_are_counted_with_what_waits() -> None:
    assert sessions_part(OpenSessions(2, 3, 1)).found == (
        "2 sessions go on; 3 tasks are in work, 1 waits"
    )
