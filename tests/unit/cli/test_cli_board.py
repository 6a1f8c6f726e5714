"""The table of states: what each row says."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

from control_plane import RunDocument, StateDocument
from dcf.cli.board import Board, build_board, with_holders
from dcf.cli.board_table import board_table, changes, seconds_text

T0 = 1_000_000


def run(*names: str, status: str = "running", **fields: Any) -> RunDocument:
    meta = {
        "workflow_id": "r",
        "workflow_name": "shop",
        "ctl": {"status": status, "protocol": 1, "digest": "d", "born": "1", "said": {}},
        "definition": "d",
        "start_at": names[0],
        "states": list(names),
        "pool": "default",
        "input": {},
        "started_at": T0,
        **fields,
    }
    return RunDocument.parse(json.dumps(meta))


def state(path: str, status: str, *, error: Any = None, times: Any = None, **ctl: Any) -> Any:
    document = {
        "path": path,
        "type": "Task",
        "input": None,
        "event": None,
        "error": error,
        "times": {"entered": T0, "started": T0, "finished": None} | (times or {}),
        "execution_metrics": None,
        "ctl": {
            "kind": "state",
            "status": status,
            "visit": 1,
            "try": 1,
            "pv": 0,
            "attempts": 1,
            "takeovers": 0,
            "fence": 1,
            **ctl,
        },
    }
    return {path: StateDocument.parse(json.dumps(document))}


def test_rows_stand_in_the_order_of_the_definition() -> None:
    board = build_board(run("B", "A"), state("A", "done") | state("B", "running"), T0)

    assert [row.name for row in board.rows] == ["B", "A"]


def test_a_state_without_a_document_is_pending() -> None:
    [row] = build_board(run("A"), {}, T0).rows

    assert row.status == "pending"


def test_a_running_state_has_its_holder_try_and_duration() -> None:
    lease = {"owner": "w1", "ts": T0, "ends": T0 + 30_000}
    tries = {"try": 2, "attempts": 7}
    [row] = build_board(run("A"), state("A", "running", lease=lease, **tries), T0 + 2_500).rows

    assert (row.holder, row.try_, row.seconds) == ("w1", 2, 2.5)


def test_frames_are_counted_by_their_join() -> None:
    join = {
        "open": True, "n": 5, "window": 2, "spawned": 4, "finished": 4, "failed": 1,
        "fail_limit": 1, "visit": 1,
    }  # fmt: skip
    [row] = build_board(run("Fan"), state("Fan", "waiting", wait="join", join=join), T0).rows

    assert row.detail == "3/5 done, 1 failed"


def test_a_retry_says_when() -> None:
    waiting = state("A", "waiting", wait="retry", wait_until=T0 + 1_500)
    [row] = build_board(run("A"), waiting, T0).rows

    assert row.detail == "retry in 1.5 s"


def test_a_takeover_is_told_and_does_not_restart_the_clock() -> None:
    taken = state("A", "done", takeovers=1, times={"started": T0 + 4_000, "finished": T0 + 5_000})
    [row] = build_board(run("A"), taken, T0 + 9_000).rows

    assert (row.detail, row.seconds) == ("taken over 1x", 5.0)


def test_deaths_of_workers_are_told_beside_takeovers() -> None:
    [row] = build_board(run("A"), state("A", "running", takeovers=1, deaths=3), T0 + 9_000).rows
    assert row.detail == "taken over 1x, 3 workers died with it"
    [row] = build_board(run("A"), state("A", "running", deaths=1), T0 + 9_000).rows
    assert row.detail.endswith("1 worker died with it")


def test_time_in_the_queue_is_told_from_work() -> None:
    times = {"started": T0 + 3_000, "finished": T0 + 5_000}
    [row] = build_board(run("A"), state("A", "done", times=times), T0).rows

    assert (row.detail, row.seconds) == ("3.0 s in the queue", 5.0)


def test_what_waits_for_a_worker_says_how_long() -> None:
    ready = state("A", "ready", attempts=0, times={"started": None})
    [row] = build_board(run("A"), ready, T0 + 2_000).rows

    assert row.detail == "2.0 s in the queue"


def test_a_state_that_was_taken_twice_does_not_guess_its_time_in_the_queue() -> None:
    times = {"started": T0 + 3_000, "finished": T0 + 5_000}
    [row] = build_board(run("A"), state("A", "done", attempts=2, times=times), T0).rows

    assert row.detail == ""


def test_a_failed_state_says_why() -> None:
    error = {"error": "CardDeclined", "cause": "no money"}
    [row] = build_board(run("A"), state("A", "failed", error=error), T0).rows

    assert row.error == "CardDeclined: no money"


def test_holders_are_filled_in_where_nobody_works_any_more() -> None:
    board = build_board(run("A", "B"), state("A", "done"), T0)

    assert [row.holder for row in with_holders(board, {"A": "w1"}).rows] == ["w1", ""]


def drawn(board: Board) -> str:
    console = Console(width=120, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(board_table(board))
    return captured.get()


def test_the_table_counts_what_was_not_needed_instead_of_listing_it() -> None:
    documents = state("A", "done") | state("B", "skipped")

    text = drawn(build_board(run("A", "B", status="succeeded"), documents, T0))
    assert "1 state was not needed" in text
    assert "skipped" not in text


def test_after_a_failure_the_rest_was_not_reached() -> None:
    documents = state("A", "failed") | state("B", "skipped") | state("C", "skipped")

    assert "2 states were not reached" in drawn(
        build_board(run("A", "B", "C", status="failed"), documents, T0)
    )


def fan(children: dict[str, Any], now: int = T0) -> Board:
    """A Map that waits for ``children``."""
    join = {
        "open": True, "n": 20, "window": 20, "spawned": 20, "finished": 0, "failed": 0,
        "fail_limit": 1, "visit": 1,
    }  # fmt: skip
    return build_board(run("Fan"), state("Fan", "waiting", wait="join", join=join), now, children)


def test_what_a_map_is_doing_stands_below_it() -> None:
    lease = {"owner": "w1", "ts": T0, "ends": T0 + 30_000}
    error = {"error": "Busy", "cause": "later"}
    children = state("Fan[0]/Fetch", "running", lease=lease, error=error, **{"try": 3})
    children |= state("Fan[1]/Fetch", "done") | state("Fan[2]/Fetch", "pending")

    text = drawn(fan(children, T0 + 2_000))

    [line] = [line for line in text.splitlines() if "Fan[0]/Fetch" in line]
    assert all(part in line for part in ("running", " 3 ", "w1", "2.0 s", "Busy: later"))
    assert "Fan[1]" not in text
    assert "Fan[2]" not in text


def test_a_long_map_shows_eight_and_counts_the_others() -> None:
    children: dict[str, Any] = {}
    for number in range(11):
        children |= state(f"Fan[{number}]/Fetch", "running")

    text = drawn(fan(children))

    assert sum("/Fetch" in line for line in text.splitlines()) == 8
    assert "… 3 more" in text


def test_changes_inside_a_map_make_lines_too() -> None:
    before = fan(state("Fan[0]/Fetch", "ready"))
    after = fan(state("Fan[0]/Fetch", "done"), T0 + 1_000)

    assert list(changes(before, after)) == ["[  1.0 s] Fan[0]/Fetch: done"]


def test_names_with_brackets_are_no_markup() -> None:
    board = build_board(run("[red]A[/red]"), {}, T0)

    assert "[red]A[/red]" in drawn(board)


def test_only_changes_make_lines() -> None:
    before = build_board(run("A", "B"), state("A", "done") | state("B", "ready"), T0)
    after = build_board(run("A", "B"), state("A", "done") | state("B", "done"), T0 + 1_000)

    assert list(changes(before, after)) == ["[  1.0 s] B: done"]


def test_waiting_longer_for_a_worker_is_no_change() -> None:
    waits = state("A", "ready", times={"entered": T0})
    before = build_board(run("A"), waits, T0 + 2000)
    after = build_board(run("A"), waits, T0 + 2100)
    assert list(changes(before, after)) == []


def test_durations_read_well() -> None:
    assert [seconds_text(s) for s in (None, 2.44, 185, 7_500)] == [
        "", "2.4 s", "3 min 05 s", "2 h 05 min",
    ]  # fmt: skip
