"""`dcf reflect`: how long ago, and what a model says before the report."""

from __future__ import annotations

import pytest

from dcf.cli.reflect import since_ms
from dcf.cli.trouble import BadInput

HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("text", "hours"), [("90m", 1.5), ("12h", 12), ("7d", 168), (" 4w ", 672), ("1h", 1)]
)
def test_lengths_of_time(text: str, hours: float) -> None:
    assert since_ms(text) == hours * HOUR_MS


@pytest.mark.parametrize("text", ["", "7", "d", "0d", "-1d", "7 days", "1.5h", "9999999d", "7D"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a length of time"):
        since_ms(text)
