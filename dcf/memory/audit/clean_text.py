"""Texts without the secrets that stood in them: nothing else is kept.

Every row comes through ``clean_row`` on its way in, from ``Entity.insert`` and ``Entity.replace``.
What is derived from a text (its price, its size, its digest) is derived from what is kept: whoever
derives it has the text cleaned first, and that is not done again. Cleaning is a function of the
text alone and changes nothing in what is clean, so that what is done again finds what it did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from dcf.memory.errors import InvalidEntry
from dcf.problem import Problem
from dcf.secret_form import GOES_ON, is_credential, value_without_secrets, without_secrets

T = TypeVar("T")
_BLANK = re.compile(r"\s")
_SHORT = 16_384
"""Characters of a text of which it is remembered for a while what was found in it."""
_AROUND = 256
"""Characters before and behind a part that is changed, in which what belongs to it stands."""
_WHOLE = ("PRIVATE KEY", "{", "[")
"""What a text has, or begins with, of which no part is judged by itself."""


class CleanText(str):
    """A text in which there are no secrets."""

    __slots__ = ()


def clean(text: str) -> str:
    """``text`` with a mark in place of each secret, which says what it was.

    >>> clean("export DB_PASSWORD=hunter22")
    'export DB_PASSWORD=[redacted: password]'
    """
    if isinstance(text, CleanText):
        return text
    return _clean_short(text) if len(text) <= _SHORT else CleanText(without_secrets(text))


@lru_cache(256)
def _clean_short(text: str) -> CleanText:
    return CleanText(without_secrets(text))


def _has_credential(text: str) -> bool:
    return _short_has_one(text) if len(text) <= _SHORT else is_credential(text)


@lru_cache(256)
def _short_has_one(text: str) -> bool:
    return is_credential(text)


def clean_change(before: str, after: str) -> str:
    """``after``, which is ``before`` with a part changed, cleaned; ``before`` is clean."""
    if isinstance(after, CleanText) or after.startswith(_WHOLE) or _WHOLE[0] in after:
        return clean(after)
    start, end = changed_part(before, after)
    start = max(0, start - _AROUND)
    start = max(after.rfind(blank, 0, start) for blank in " \n") + 1
    blank = _BLANK.search(after, min(len(after), end + _AROUND))
    if blank is None:
        return CleanText(after[:start] + clean(after[start:]))
    # With what follows the part does not end, as a text that was cut does.
    part = clean(after[start : blank.end()] + GOES_ON).removesuffix(GOES_ON)
    return CleanText(after[:start] + part + after[blank.end() :])


def clean_fields(new: T, *, but: Collection[str] = ()) -> T:
    """The dataclass ``new`` with all texts in it cleaned, but for what the fields ``but`` hold."""
    given = {one.name: getattr(new, one.name) for one in fields(new) if one.name not in but}  # type: ignore[arg-type]
    return replace(new, **{name: _clean_value(value) for name, value in given.items()})  # type: ignore[type-var]


def clean_row(
    entity: str,
    row: Mapping[str, Any],
    *,
    names: Collection[str],
    codes: Collection[str],
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """``row`` of ``entity`` as it is kept. What is as in ``before``, and the columns ``codes``, are
    left alone. Rows are found by the columns ``names``: one that holds a credential is refused,
    since nobody would find it again. Raises InvalidEntry."""
    kept = dict(row)
    for column, value in row.items():
        if not isinstance(value, str) or column in codes:
            continue
        was = None if before is None else before.get(column)
        if was == value:
            continue
        if column in names:
            _refuse_credential(entity, column, value)
        else:
            cleaned = clean(value) if was is None else clean_change(str(was), value)
            # A plain text: SQLite asks whoever has another kind of text what it is.
            kept[column] = str(cleaned)
    return kept


def changed_part(before: str, after: str) -> tuple[int, int]:
    """Where the part of ``after`` begins and ends that is not as in ``before``."""
    shorter = min(len(before), len(after))
    start = _longest(shorter, lambda low, high: before[low:high] == after[low:high])
    end = _longest(
        shorter - start,
        lambda low, high: (
            before[len(before) - high : len(before) - low]
            == after[len(after) - high : len(after) - low]
        ),
    )
    return start, len(after) - end


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if is_dataclass(value) and not isinstance(value, type):
        return clean_fields(value)
    if isinstance(value, Mapping):
        return value_without_secrets(value)
    if isinstance(value, Sequence):
        return type(value)(map(_clean_value, value))  # type: ignore[call-arg]
    return value


def _refuse_credential(entity: str, column: str, value: str) -> None:
    if not isinstance(value, CleanText) and _has_credential(value):
        problem = Problem(
            "memory_name_secret",
            f"its {column} has in it what only a secret looks like",
            f"/{column}",
            "call it otherwise: a name is seen by everybody",
        )
        raise InvalidEntry(f"the {entity}", (problem,))


def _longest(limit: int, same: Callable[[int, int], bool]) -> int:
    """The largest size up to ``limit`` for which all before it is the same; ``same`` compares from
    one size to another. By halves: comparing slices is fast, comparing characters in Python is
    not."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
