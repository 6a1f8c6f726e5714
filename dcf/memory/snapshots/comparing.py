"""Whether two checkpoints are equal, whatever ids they have, and whether one was the other."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, TypeAlias

from dcf.memory.snapshots.version import ENTITIES, Version, last_rows

Form: TypeAlias = Mapping[str, Any]
_NAMED = 3
_IDS = ("id", "parent", "node_id", "shadows")


def difference(here: Sequence[Version], there: Sequence[Version]) -> str:
    """In which nodes two checkpoints differ; empty if they are equal."""
    one, other = _form(here), _form(there)
    both = [name for name in one if name in other]
    found = {
        "only in the memory": [name for name in one if name not in other],
        "only in the snapshot": [name for name in other if name not in one],
        "not the same": [name for name in both if one[name] != other[name]],
    }
    return "; ".join(f"{what}: {_named(names)}" for what, names in found.items() if names)


def was_once(here: Sequence[Version], removed: Sequence[Version], there: Sequence[Version]) -> bool:
    """Whether the checkpoint ``here``, of which ``removed`` is gone, was once as it is ``there``:
    each row there is as it was here at some time, and what came later here came after all of it.
    Of a row whose first versions were given up, any earlier one counts as one of them."""
    for kind in ENTITIES:
        made, found = list(last_rows(here, kind)), last_rows(there, kind)
        shared = [row_id for row_id in made if row_id in found]
        if made[: len(shared)] != shared:
            return False
    nodes = last_rows(here, "node")
    known: dict[tuple[str, str], list[Form]] = {}
    for one in (*here, *removed):
        known.setdefault((one.kind, one.id), []).append(_state(one, nodes))
    last = {(one.kind, one.id): _state(one, nodes) for one in there}
    return all(_is_among(state, known.get(key, ())) for key, state in last.items())


def _state(version: Version, nodes: Container[str]) -> Form:
    """The row as far as two memories have it alike: not when its last change was noted, nor below
    which node it stood that is none of ``nodes`` any more."""
    row = {name: value for name, value in version.row.items() if name != "updated_at"}
    if row.get("parent") not in nodes:
        row.pop("parent", None)
    return row


def _is_among(state: Form, known: Sequence[Form]) -> bool:
    if state in known:
        return True
    return bool(known) and state["revision"] < min(one["revision"] for one in known)


def _form(versions: Sequence[Version]) -> Form:
    """What each node is and has, by its name."""
    nodes, entries = last_rows(versions, "node"), last_rows(versions, "entry")
    names = {node_id: row["name"] for node_id, row in nodes.items()}
    form: dict[str, Any] = {}
    for row in nodes.values():
        form[row["name"]] = [{**_plain(row), "parent": names.get(row["parent"])}]
    places: dict[str, Any] = {}
    for entry_id, row in entries.items():
        own = form[names[row["node_id"]]]
        places[entry_id] = (names[row["node_id"]], len(own))
        own.append(_plain(row))
    for entry_id, (name, at) in places.items():
        shadows = entries[entry_id]["shadows"]
        form[name][at]["shadows"] = places.get(shadows, shadows)
    return form


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _IDS}


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
