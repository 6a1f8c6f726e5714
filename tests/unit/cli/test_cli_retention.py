"""What `dcf memory gc` is told to keep."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcf.cli.memory.collecting import retention_of
from dcf.cli.trouble import BadInput
from dcf.memory import Retention

DAY_MS = 86_400_000


def test_days_numbers_and_ever_are_read() -> None:
    expected = replace(Retention(), events_ms=30 * DAY_MS, letters_ms=None, most_bytes=10**12)
    assert retention_of(["events=30", "letters=ever"], ["bytes=1000000000000"]) == expected


@pytest.mark.parametrize("value", ["", "many", "-1", "\u00b2", "9" * 10, "9" * 5_000])
def test_what_is_no_number_of_days_is_told(value: str) -> None:
    with pytest.raises(BadInput) as told:
        retention_of([f"events={value}"], ["events=9", f"bytes={'9' * 19}"])
    assert [(one.code, one.file) for one in told.value.problems] == [
        ("CLI_RETENTION_VALUE", "--keep-days"),
        ("CLI_RETENTION_VALUE", "--most"),
    ]
