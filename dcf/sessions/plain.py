"""Between dataclasses and the JSON that is stored of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from typing import Any, TypeVar, cast

T = TypeVar("T")


def plain(value: Any) -> dict[str, Any]:
    """The members of a dataclass that differ from their defaults, as JSON."""
    found = {}
    for name, default in _defaults(cast(Hashable, type(value))):
        member = getattr(value, name)
        if default is MISSING or member != default:
            found[name] = _json(member)
    return found


def read_into(cls: Callable[..., T], raw: Mapping[str, Any]) -> Callable[..., T]:
    """``cls`` with the members of ``raw`` that it has; what newer versions wrote is left alone."""
    known = {name for name, _ in _defaults(cls)}
    return partial(cls, **{name: raw[name] for name in raw if name in known})


def _json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json(one) for one in value]
    return plain(value) if is_dataclass(value) else value


@cache
def _defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (one.name, one.default_factory() if one.default_factory is not MISSING else one.default)
        for one in fields(cls)
    )
