"""What would help against a failure of how DCF is set up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from unit.workflow.stage import RUN

from control_plane.documents import Failure
from dcf.cli.entry import run_command
from dcf.cli.failure_hint import run_hint, trial_hint
from dcf.cli.outcome import describe
from dcf.workflow import Result

OBJECTS = Path("/srv/objects")


def hint_of(error: str) -> str:
    ended = Result(RUN, "shop", "failed", None, Failure(error, "because"), 1_000, 2_000)
    note = describe(ended, Path("runs/r"), [], OBJECTS).error
    assert note is not None
    return note.hint


def test_a_run_that_cannot_read_items_names_the_folder_and_the_setting() -> None:
    hint = hint_of("States.ItemReaderFailed")
    assert str(OBJECTS) in hint
    assert "DCF_OBJECTS" in hint
    assert "dcf explain" in hint


def test_a_run_that_killed_its_workers_says_what_to_do_next() -> None:
    hint = hint_of("DCF.WorkerLost")
    for what in ("mend what kills", "`dcf redrive ID`", "`dcf runs remove ID`", "workers.md"):
        assert what in hint


def test_a_run_without_a_handler_names_the_command_and_the_page() -> None:
    hint = hint_of("DCF.NoHandler")
    assert "dcf worker --handlers" in hint
    assert (Path(__file__).parents[3] / "docs/how-to/handlers.md").is_file()
    assert "docs/how-to/handlers.md" in hint


def test_other_errors_have_no_such_hint() -> None:
    assert run_hint("Boom", OBJECTS) == trial_hint("Boom", OBJECTS) == run_hint(None, OBJECTS) == ""


def test_a_trial_names_its_folder_or_the_option() -> None:
    assert "--objects DIR" in trial_hint("States.ItemReaderFailed", None)
    assert str(OBJECTS) in trial_hint("States.ItemReaderFailed", OBJECTS)


@pytest.mark.parametrize("result", ["{bad", "bad"])
def test_what_callback_cannot_read_is_named_by_its_option(
    result: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["callback", "TOKEN", "--result", result, "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert "--result" in json.dumps(said["problems"])
    assert "--input" not in json.dumps(said)
