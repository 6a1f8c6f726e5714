"""Whether the fields of a record are what they should be: somebody else has put it there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_LATEST_MS = 253_402_300_799_999
"""The end of the year 9999: later instants have no ISO form."""


def demand_texts(record: object, names: Iterable[str]) -> None:
    """Raises TypeError unless the fields ``names`` are texts that can be written as UTF-8."""
    for name in names:
        value = getattr(record, name)
        if not isinstance(value, str):
            raise TypeError(f"{name} is no text")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise TypeError(f"{name} has half a character") from error


def demand_time(name: str, value: Any) -> None:
    """Raises TypeError unless ``value`` is an instant in ms since the epoch."""
    if type(value) is not int or not 0 <= value <= _LATEST_MS:
        raise TypeError(f"{name} is no time in ms since the epoch")
