"""Bad flags are refused before a campaign of minutes begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.options import options


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--minutes", "0"], "--minutes: 0 is not over 0"),
        (["--minutes", "nan"], "--minutes: nan is not over 0"),
        (["--minutes", "inf"], "--minutes: inf is not over 0"),
        (["--minutes", "five"], "--minutes: 'five' is no number"),
        (["--each", "-1"], "--each: -1 is not over 0"),
        (["--workers", "0"], "--workers: '0' is no whole number over 0"),
        (["--poison", "1.5"], "--poison: 1.5 is not between 0 and 1"),
        (["--json", "/dev/null/no/x"], "--json: there is no folder /dev/null/no; make it first"),
        (["--keep", "/tmp"], "--keep: /tmp is a folder; name a file"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        options(arguments)
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_files_that_can_be_written_are_taken(tmp_path: Path) -> None:
    there = tmp_path / "there.json"
    there.write_text("{}")
    chosen = options(["--json", str(there), "--keep", str(tmp_path / "new.log"), "--poison", "0"])
    assert (chosen.json, chosen.keep) == (there, tmp_path / "new.log")
    assert (chosen.minutes, chosen.poison) == (5.0, 0.0)


def test_each_flag_has_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "takes about N + 1" in told
    for part in ("how long faults happen (5)", "what is chosen", "worker processes (4)"):
        assert part in told
