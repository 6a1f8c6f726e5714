"""What goes on is told where people see it, and now and then where they do not."""

from __future__ import annotations

import pytest

from dcf.cli import screen
from dcf.cli.memory.wording import excerpt
from dcf.cli.screen import Progress, Screen


def test_what_is_told_often_is_shown_now_and_then() -> None:
    shown: list[str] = []
    now = 0.0
    progress = Progress(shown.append, every_s=5.0, clock=lambda: now)
    for second in range(12):
        now = float(second)
        progress.tell(f"{second} s")
    assert shown == ["5 s", "10 s"]
    at_once = Progress(shown.append, clock=lambda: now)
    at_once.tell("a")
    at_once.tell("b")
    assert shown[2:] == ["a", "b"]


@pytest.mark.parametrize("as_json", [False, True])
def test_in_a_pipe_stderr_has_it_and_stdout_nothing(
    as_json: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "_EVERY_S", 0.0)
    with Screen(as_json=as_json).working("reading") as progress:
        progress.tell("3 files: [b]tea.md")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "3 files: [b]tea.md\n")


def test_what_is_over_soon_is_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with Screen(as_json=False).working("reading") as progress:
        progress.tell("3 files")
    assert capsys.readouterr() == ("", "")


def test_an_excerpt_shows_rows_as_far_as_there_is_room_and_says_what_is_cut() -> None:
    table = ["| n | word |", "| - | - |", *(f"| {n} | {'x' * 20} |" for n in range(9))]
    shown = excerpt("\n".join(["Some", "words.", *table, "Behind."]), 80)
    head = ["n  word", "-  " + "-" * 20]
    assert shown == ["Some words.", *head, *(f"{n}  {'x' * 20}" for n in range(2)), "…"]
    assert excerpt("one\ntwo", 80) == ["one two"]
    assert excerpt("", 80) == excerpt(" " * 400, 80) == []
    (cut,) = excerpt("word " * 100, 20)
    assert len(cut) == 20 and cut.endswith("…")
    long = "y" * 60
    assert excerpt(f"| {long} |", 80) == [f"{'y' * 39}…"]
