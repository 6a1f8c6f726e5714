"""Finding a tool's arguments by name and type, for the rehearsal."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.agents.assignment import JSON
from dcf.agents.shape import fits, only_value, type_name
from dcf.skills import Kinship, best_of, namesakes, shape_of

_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Unbound:
    """A required property for which no value was found."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Binding:
    """The arguments found, and what is missing; to be used only when nothing is. ``assumed`` are
    those that took a value of another name, each with that name."""

    arguments: dict[str, JSON]
    missing: tuple[Unbound, ...]
    assumed: tuple[tuple[str, str], ...] = ()


def bind(schema: Mapping[str, Any], sources: Sequence[JSON]) -> Binding:
    """Values for the properties of ``schema`` (a JSON Schema of arguments) out of ``sources``.

    For each property the first value of the same name and a fitting type wins: ``sources`` in
    order, in each breadth first through its objects (not its arrays: which element would be a
    guess), members in alphabetical order, because the order of a JSON object means nothing. Then
    the property's default; for a required one also the only value its ``const`` or ``enum``
    allows; then the value of the nearest name, if it has the same shape and one name's words are
    among the other's (``address`` for ``shipping_address``, see ``dcf.skills.namesakes``), and no
    other value is as near. Values are taken whole. Optional properties without a value are left
    out.
    """
    properties: Mapping[str, JSON] = schema.get("properties", {})
    required: Sequence[str] = schema.get("required", ())
    members = [_members(source) for source in sources]
    arguments: dict[str, JSON] = {}
    missing: list[Unbound] = []
    assumed: list[tuple[str, str]] = []
    for name in dict.fromkeys((*properties, *required)):
        wanted = properties.get(name, True)
        value = _found(name, wanted, members, schema, required=name in required)
        if value is not _NOTHING:
            arguments[name] = value
        elif name in required and (other := _akin(name, wanted, members, schema)) is not None:
            value = _found(other, wanted, members, schema, required=False)
            arguments[name] = value
            assumed.append((name, other))
        elif name in required:
            missing.append(Unbound(name, type_name(wanted, schema)))
    return Binding(arguments, tuple(missing), tuple(assumed))


def _found(
    name: str,
    wanted: JSON,
    members: Sequence[Mapping[str, Sequence[JSON]]],
    root: Mapping[str, Any],
    *,
    required: bool,
) -> JSON:
    candidates = [value for named in members for value in named.get(name, ())]
    if isinstance(wanted, Mapping) and "default" in wanted:
        candidates.append(wanted["default"])
    if required:
        candidates.extend(only_value(wanted))
    for candidate in candidates:
        if fits(candidate, wanted, root):
            return candidate
    return _NOTHING


def _akin(
    name: str,
    wanted: JSON,
    members: Sequence[Mapping[str, Sequence[JSON]]],
    root: Mapping[str, Any],
) -> str | None:
    """The name of the one value that ``name`` surely means."""
    if not isinstance(wanted, Mapping):
        return None
    known: dict[str, dict[str, Any]] = {}
    for named in members:
        for other, values in named.items():
            value = next((one for one in values if fits(one, wanted, root)), _NOTHING)
            if value is not _NOTHING:
                known.setdefault(other, shape_of(value))
    best = best_of(namesakes(name, wanted, known))
    return best.path if best is not None and best.kinship >= Kinship.NARROWER else None


def _members(source: JSON) -> dict[str, list[JSON]]:
    """Every member of every object in ``source`` by name, nearest the top first."""
    named: dict[str, list[JSON]] = {}
    waiting = deque([source])
    while waiting:
        here = waiting.popleft()
        if not isinstance(here, Mapping):
            continue
        for name in sorted(here):
            named.setdefault(name, []).append(here[name])
            waiting.append(here[name])
    return named
