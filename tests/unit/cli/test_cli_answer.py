"""What people see of an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from control_plane.documents import Failure
from dcf.cli.answer import present
from dcf.cli.outcome import describe
from dcf.workflow import Result


def ended(status: str, **fields: object) -> Result:
    failure = Failure("Nope", "on purpose") if status != "succeeded" else None
    return Result("r", "shop", status, fields.get("output"), failure, 1_000, 2_500)  # type: ignore[arg-type]


def test_the_output_of_a_run_stays_json_however_long_its_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    output = {"text": "word " * 60, "markup": "[red]x[/red]"}

    present(
        describe(ended("succeeded", output=output), Path("runs/r"), [], Path("objects")),
        as_json=False,
    )

    printed = capsys.readouterr().out
    assert json.loads(printed[: printed.rindex("}") + 1]) == output


def test_times_are_iso_8601() -> None:
    said = describe(ended("succeeded"), Path("runs/r"), [], Path("objects")).to_json()

    assert (said["started_at"], said["finished_at"]) == (
        "1970-01-01T00:00:01.000Z",
        "1970-01-01T00:00:02.500Z",
    )


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("failed", "the run failed: Nope: on purpose"),
        ("cancelled", "the run was cancelled: Nope: on purpose"),
        ("timed_out", "the run timed out: Nope: on purpose"),
    ],
)
def test_how_it_ended_is_a_sentence(status: str, sentence: str) -> None:
    error = describe(ended(status), Path("runs/r"), [], Path("objects")).error

    assert error is not None
    assert error.message == sentence
    assert "dcf redrive r" in error.hint
