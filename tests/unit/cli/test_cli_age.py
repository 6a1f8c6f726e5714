"""Lengths of time, and how long runs are kept."""

from __future__ import annotations

import pytest

from dcf.age_form import read_age
from dcf.cli.age import BadRetention, read_retention
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("text", "ms"), [("30d", 30 * DAY_MS), ("12h", DAY_MS // 2), ("0m", 0), (" 2w ", 14 * DAY_MS)]
)
def test_a_length_of_time_is_a_number_and_a_unit(text: str, ms: int) -> None:
    assert read_age(text) == ms


@pytest.mark.parametrize("text", ["", "d", "30", "30 d", "-1d", "1.5d", "1y", "٣d", "9999999d"])
def test_anything_else_is_none(text: str) -> None:
    assert read_age(text) is None


def test_a_retention_names_statuses_and_all_is_for_the_others() -> None:
    assert read_retention("succeeded=1d, failed=2d") == {"succeeded": DAY_MS, "failed": 2 * DAY_MS}
    assert read_retention("all=1d,failed=2d") == {
        "succeeded": DAY_MS,
        "failed": 2 * DAY_MS,
        "timed_out": DAY_MS,
        "cancelled": DAY_MS,
    }
    assert read_retention("") == {}


@pytest.mark.parametrize(
    "text", ["30d", "running=1d", "failed=1x", "failed=1d,failed=2d", " ", " , ,"]
)
def test_a_retention_that_cannot_be_understood_is_told(text: str) -> None:
    with pytest.raises(BadRetention):
        read_retention(text)
    with pytest.raises(BadInput) as told:
        Settings.from_env({"DCF_RETENTION": text})
    [problem] = told.value.problems
    assert (problem.code, problem.file) == ("CLI_RETENTION_RUNS", "DCF_RETENTION")


def test_all_that_is_wrong_with_a_retention_is_told_at_once_by_its_name() -> None:
    with pytest.raises(BadInput) as told:
        Settings.from_env({"DCF_RETENTION": "suceeded=30d, failed = 12w, canceled=3y, all=9 d, x"})
    assert [problem.message for problem in told.value.problems] == [
        "'suceeded=30d': 'suceeded' is not a status of a finished run, did you mean succeeded?",
        "'canceled=3y': 'canceled' is not a status of a finished run, did you mean cancelled?; "
        "'3y' is not a length of time",
        "'all=9 d': '9 d' is not a length of time",
        "'x' does not say STATUS=TIME",
    ]
