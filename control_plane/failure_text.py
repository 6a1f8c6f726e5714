"""How long an error name and a cause may be: as long as Step Functions takes them.

https://docs.aws.amazon.com/step-functions/latest/apireference/API_TaskFailedEventDetails.html
"""

from __future__ import annotations

import hashlib
from typing import Final

MOST_ERROR: Final = 256
MOST_CAUSE: Final = 32_768


def error_of(error: str | None) -> str | None:
    """``error`` as it is kept. Of a longer one the end is a digest of all of it: names that differ
    anywhere stay different, and those that are the same stay the same."""
    if error is None or len(error) <= MOST_ERROR:
        return error
    digest = hashlib.sha256(error.encode("utf-8", "surrogatepass")).hexdigest()
    return cut_text(error, MOST_ERROR, f", sha256 {digest[:16]}")


def cause_of(cause: str | None) -> str | None:
    """``cause`` as it is kept."""
    return None if cause is None else cut_text(cause, MOST_CAUSE)


def cut_text(text: str, most: int, also: str = "") -> str:
    """``text`` in at most ``most`` characters; where it had more, its end says how many are cut,
    and ``also`` this.

    >>> cut_text("x" * 1_000_000, 40)
    'xxxxxxxxxxxxx… [999,987 characters cut]'
    """
    if len(text) <= most:
        return text
    # The mark is longest when all of the text is cut.
    kept = text[: most - len(_mark(len(text), also))]
    return kept + _mark(len(text) - len(kept), also)


def _mark(characters: int, also: str) -> str:
    return f"… [{characters:,} characters cut{also}]"
