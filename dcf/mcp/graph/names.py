"""Names that callers give: of groups, of kinds of entities, of texts."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from dcf.knowledge import GraphAway
from dcf.knowledge.asking import Chosen, EpisodeMeasured, chosen, is_measured
from dcf.mcp.graph.desk import GraphDesk

LONGEST = 100
"""Characters of a name."""
_GROUP = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")
_LABEL = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{0,{LONGEST - 1}}}")
_ID = re.compile(rf"[A-Za-z0-9_.:-]{{1,{LONGEST}}}")


class Refused(Exception):
    """What was asked for cannot be."""


def demand_labels(names: list[str]) -> None:
    """Raises Refused unless all of ``names`` can be kinds of entities."""
    bad = [name for name in names if not _LABEL.fullmatch(name)]
    if bad:
        raise Refused(f"bad_arguments: {_shown(bad)} cannot be entity types")


def demand_groups(names: list[str]) -> None:
    """Raises Refused unless all of ``names`` can be groups."""
    bad = [name for name in names if not _GROUP.fullmatch(name)]
    if bad:
        said = f"a group has 1 to {LONGEST} of A-Z a-z 0-9 _ -"
        raise Refused(f"bad_arguments: {_shown(bad)}: {said}")


def listed(names: list[str] | str | None) -> list[str]:
    """``names`` as a list: a single one may be given as a text; empty ones are what some clients
    send for none."""
    return [name for name in ([names] if isinstance(names, str) else names or ()) if name]


def groups_of(names: list[str] | str | None) -> Chosen:
    """What ``names`` stand for. Raises Refused."""
    given = listed(names)
    demand_groups(given)
    return chosen(given)


async def demand_id(desk: GraphDesk, uuid: str) -> None:
    """Refuse an id that is none, that tells something, or that is taken by what was measured.
    Raises Refused, EpisodeMeasured."""
    if not _ID.fullmatch(uuid) or desk.privacy.text(uuid) != uuid:
        said = f"1 to {LONGEST} of A-Z a-z 0-9 _ . : -, no secret and nobody's number"
        raise Refused(f"bad_arguments: a uuid has {said}")
    try:
        measured = await is_measured(desk.graph, uuid)
    except GraphAway:
        # The text waits as all do meanwhile, and will not be written over what was measured.
        return
    if measured:
        raise EpisodeMeasured(uuid=uuid)


def moment_of(said: str) -> int:
    """The moment (ms since the epoch) that ``said`` is as ISO 8601, in UTC where it has no zone.
    Raises Refused."""
    try:
        moment = datetime.fromisoformat(said)
    except ValueError as error:
        raise Refused(f"bad_arguments: reference_time is no ISO 8601 time: {error}") from error
    return round(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)


def _shown(names: list[str]) -> str:
    return ", ".join(repr(name[:LONGEST]) for name in names[:5])
