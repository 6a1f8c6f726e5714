"""Observations that an answer cites: each counts as used that the agent was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcf.citation import Citation, find_citations
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import OBSERVATION, OBSERVATION_USE
from dcf.memory.observations.errors import AmbiguousObservation, UnknownObservation
from dcf.memory.observations.finding import named_row
from dcf.memory.observations.rendering import short_id

MOST = 50
"""Citations of one answer that count: who cites everything says nothing."""
_TITLE = 12
"""Characters of a title by which a row is known: the rows of an index cut long ones."""


def count_uses(journal: Journal, answer: str, used_by: str, shown: Sequence[str]) -> None:
    """Count each observation that ``answer`` cites and one of the texts ``shown`` to the agent
    tells, once for the work ``used_by``, however often it is done or cites it. What is cited and
    not there counts nothing, and so does an id that is shorter than rows show it: models make
    addresses up, and repeat those that strangers wrote."""
    cited = [one.citation for one in find_citations(answer)]
    names = dict.fromkeys(name for one in cited if (name := _observation_in(one)))
    texts = [_plain(one) for one in shown] if names else []
    for name in list(names)[:MOST]:
        _count(journal, name, used_by, texts)


def _plain(text: str) -> str:
    """``text`` without what JSON puts before quotes, however often it was written as JSON."""
    return text.replace("\\", "")


def _is_shown(row: dict[str, Any], texts: Sequence[str]) -> bool:
    """Whether a text has the row: its id and its title, wherever it has them."""
    name, title = short_id(row["id"]), _plain(row["title"])[:_TITLE]
    return any(name in text and title in text for text in texts)


def _observation_in(cited: Citation) -> str | None:
    if cited.kind == "observation":
        return cited.id
    return cited.part_id if cited.part == "observation" else None


def _count(journal: Journal, name: str, used_by: str, texts: Sequence[str]) -> None:
    connection = journal.connection
    try:
        row = named_row(connection, name)
    except (UnknownObservation, AmbiguousObservation):
        return
    if len(short_id(name)) < len(short_id(row["id"])) or not _is_shown(row, texts):
        return
    known = connection.execute(
        "SELECT 1 FROM observation_uses WHERE observation_id = ? AND used_by = ?",
        (row["id"], used_by),
    ).fetchone()
    if known is not None:
        return
    use = {"observation_id": row["id"], "used_by": used_by, "at": journal.at}
    OBSERVATION_USE.insert(connection, use)
    # Without an event, as when it is seen again.
    OBSERVATION.replace(connection, {**row, "used": row["used"] + 1})
