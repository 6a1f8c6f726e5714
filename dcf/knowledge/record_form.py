"""Whether the fields of a record are what they should be: somebody else has put it there."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

_LATEST_MS = 253_402_300_799_999
"""The end of the year 9999: later instants have no ISO form."""
# What ids of agents, runs and sessions have in common.
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_ID_RULE = "1 to 128 characters of A-Z a-z 0-9 _ . : -"


def demand_texts(
    record: object, names: Iterable[str], *, optional: bool = False, lists: Iterable[str] = ()
) -> None:
    """Raises TypeError unless the fields ``names`` are texts that can be written as UTF-8, or None
    where they are ``optional``, and ``lists`` are lists of such texts."""
    for name in names:
        value = getattr(record, name)
        if value is not None or not optional:
            _demand_text(name, value)
    for name in lists:
        for one in getattr(record, name):
            if not isinstance(one, str):
                raise TypeError(f"{name} is no list of texts")
            _demand_text(name, one)


def demand_ids(
    record: object,
    names: Iterable[str],
    *,
    optional: bool = False,
    empty: bool = False,
    lists: Iterable[str] = (),
) -> None:
    """Raises TypeError unless the fields ``names`` are ids, or None where they are ``optional``, or
    "" where they may be ``empty``, and ``lists`` are lists of ids. Ids are written as they are:
    what cleans texts could make two of them one."""
    for name in names:
        value = getattr(record, name)
        if not ((optional and value is None) or (empty and value == "")):
            _demand_id(name, value)
    for name in lists:
        for one in getattr(record, name):
            _demand_id(name, one)


def demand_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raises TypeError unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise TypeError(f"{name} is none of {', '.join(choices)}")


def demand_counts(name: str, value: Any, known: Iterable[str]) -> None:
    """Raises TypeError unless ``value`` maps nothing but ``known`` names to whole numbers from 0
    on."""
    if not isinstance(value, dict) or not set(value) <= set(known):
        raise TypeError(f"{name} counts something else than {', '.join(known)}")
    if any(type(one) is not int or one < 0 for one in value.values()):
        raise TypeError(f"{name} is no count")


def demand_numbers(name: str, value: Any) -> None:
    """Raises TypeError unless ``value`` maps texts to finite numbers."""
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value):
        raise TypeError(f"{name} has no numbers by name")
    for one in value.values():
        if isinstance(one, bool) or not isinstance(one, int | float) or not math.isfinite(one):
            raise TypeError(f"{name} is no number")


def demand_time(name: str, value: Any) -> None:
    """Raises TypeError unless ``value`` is an instant in ms since the epoch."""
    if type(value) is not int or not 0 <= value <= _LATEST_MS:
        raise TypeError(f"{name} is no time in ms since the epoch")


def _demand_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise TypeError(f"{name} has half a character") from error


def _demand_id(name: str, value: Any) -> None:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise TypeError(f"{name} is no id: {_ID_RULE}")
