"""Where a search looks: ranges of places."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.nodes import chosen_ids, lineage_rows, shadowed_ids
from dcf.memory.search.found import Kind
from dcf.memory.search.place import (
    CODES,
    NOBODY,
    Places,
    bounds,
    node_space,
    number_of,
    project_space,
    range_of,
)
from dcf.memory.search.question import Question

# Blocks of one agent mostly stand side by side; a few of others between them cost less than another
# look into the index.
_GAP = 32
_NARROW = 4_000
_TOTALS = "SELECT {} FROM search_ranges".format(
    # In one go: a group for each kind would have all ranges sorted first.
    ", ".join(
        f"sum(documents) FILTER (WHERE range & 7 = {code}) AS {kind}s,"
        f" sum(words) FILTER (WHERE range & 7 = {code}) AS {kind}_words"
        for kind, code in CODES.items()
    )
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Places ``first`` to ``last``."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Scope:
    """``stretches`` lie apart, lowest first; with ``only`` no other places of them are meant.
    ``documents`` is how many texts are there, ``words`` how long they are on average by kind."""

    stretches: tuple[Stretch, ...]
    documents: int
    words: dict[Kind, float]
    only: Places | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether all that is in it can be looked at."""
        return self.documents <= _NARROW

    @property
    def spans(self) -> list[tuple[int, int]]:
        """First and last place of each stretch."""
        return [(one.first, one.last) for one in self.stretches]


def scope_of(connection: Connection, question: Question) -> Scope:
    """Where to look for an answer to ``question``. Agents and projects that are not known have
    nothing. Raises UnknownNode."""
    wanted = question.wanted
    if question.is_of_everybody:
        return _everything(connection, wanted)
    if question.is_of_nodes:
        return _of_nodes(connection, question)
    agent_ids = sorted(set(question.agent_ids or ()))
    agents = _numbers(connection, agent_ids)
    projects = _numbers(connection, [project_space(one) for one in set(question.projects or ())])
    numbers: dict[Kind, list[int]] = {
        "block": [NOBODY],
        "observation": projects,
        "thread": projects,
        "document": projects,
        "entry": [],
    }
    blocks = _of_blocks(_block_places(connection, agent_ids)) if "block" in wanted else []
    return _of_spaces(connection, {kind: numbers.get(kind, agents) for kind in wanted}, blocks)


def _of_nodes(connection: Connection, question: Question) -> Scope:
    """The spaces of nodes, or of a node's lineage and its project, without the places of what is
    shadowed there; of chosen entries only their places."""
    lineage = [] if question.node is None else lineage_rows(connection, question.node)
    ids = [one["id"] for one in lineage] or sorted(set(question.nodes or ()))
    spaces = [project_space(one["project"]) for one in lineage[:1]]
    project = _numbers(connection, spaces)
    nodes = _numbers(connection, [node_space(one) for one in ids])
    numbers = {kind: nodes if kind == "entry" else project for kind in question.wanted}
    scope = _of_spaces(connection, numbers, [])
    shadowed = shadowed_ids(connection, ids)
    if not question.choice.is_all:
        chosen = chosen_ids(connection, question.choice, ids, shadowed)
        only = np.array(_places_of_entries(connection, chosen), dtype=np.int64)
        return replace(scope, documents=len(only), only=only)
    hidden = _places_of_entries(connection, shadowed)
    return replace(scope, stretches=_without(scope.stretches, hidden)) if hidden else scope


def _of_spaces(
    connection: Connection, numbers: Mapping[Kind, Sequence[int]], blocks: Sequence[Stretch]
) -> Scope:
    """The texts of each kind in the spaces with these numbers; of blocks those in ``blocks``."""
    stretches = list(blocks)
    documents = sum(one.last - one.first + 1 for one in stretches)
    words: dict[Kind, float] = {}
    for kind, spaces in numbers.items():
        count = length = 0
        for which in (range_of(one, kind) for one in spaces):
            own, said = _counted(connection, which)
            count, length = count + own, length + said
            if own and kind != "block":
                stretches.append(Stretch(*bounds(which)))
        words[kind] = length / max(count, 1)
        documents += 0 if kind == "block" else count
    return Scope(_joined(stretches), documents, words)


def _places_of_entries(connection: Connection, ids: Sequence[str]) -> list[int]:
    rows = connection.execute(
        "SELECT place FROM search_documents"
        " WHERE kind = 'entry' AND ref IN (SELECT value FROM json_each(?)) ORDER BY place",
        (json.dumps(ids),),
    )
    return [row[0] for row in rows]


def _without(stretches: Sequence[Stretch], places: Sequence[int]) -> tuple[Stretch, ...]:
    """The stretches without some places, which stand in order."""
    found: list[Stretch] = []
    for one in stretches:
        first = one.first
        for place in places[bisect_left(places, one.first) : bisect_right(places, one.last)]:
            if first < place:
                found.append(Stretch(first, place - 1))
            first = place + 1
        if first <= one.last:
            found.append(Stretch(first, one.last))
    return tuple(found)


def _numbers(connection: Connection, spaces: Sequence[str]) -> list[int]:
    found = (number_of(connection, one) for one in spaces)
    return sorted(one for one in found if one is not None)


def _everything(connection: Connection, wanted: Sequence[Kind]) -> Scope:
    totals = connection.execute(_TOTALS).fetchone()
    count = 0
    words: dict[Kind, float] = {}
    for kind in wanted:
        documents, length = totals[f"{kind}s"] or 0, totals[f"{kind}_words"] or 0
        words[kind] = length / max(documents, 1)
        count += documents
    if tuple(wanted) == ("block",):
        return Scope((Stretch(*bounds(range_of(NOBODY, "block"))),), count, words)
    return Scope((Stretch(0, (1 << 62) - 1),) if wanted else (), count, words)


def _block_places(connection: Connection, agent_ids: Sequence[str]) -> list[int]:
    places: set[int] = set()
    for agent_id in agent_ids:
        rows = connection.execute(
            "SELECT d.place FROM held_blocks h JOIN search_documents d"
            " ON d.kind = 'block' AND d.ref = h.block_id WHERE h.agent_id = ?",
            (agent_id,),
        )
        places |= {row[0] for row in rows}
    return sorted(places)


def _of_blocks(places: Sequence[int]) -> list[Stretch]:
    found: list[Stretch] = []
    for place in places:
        if found and place - found[-1].last <= _GAP:
            found[-1] = Stretch(found[-1].first, place)
        else:
            found.append(Stretch(place, place))
    return found


def _joined(stretches: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """The stretches in order; those without a place between them are one."""
    found: list[Stretch] = []
    for one in sorted(stretches, key=lambda one: one.first):
        if found and one.first == found[-1].last + 1:
            found[-1] = Stretch(found[-1].first, one.last)
        else:
            found.append(one)
    return tuple(found)


def _counted(connection: Connection, which: int) -> tuple[int, int]:
    """How many texts stand in a range, and how many words they have."""
    row = connection.execute(
        "SELECT documents, words FROM search_ranges WHERE range = ?", (which,)
    ).fetchone()
    return (0, 0) if row is None else (row[0], row[1])
