"""The sessions that the graph knows, with what was told of each last."""

from __future__ import annotations

from dcf.knowledge.asking.looking import look
from dcf.knowledge.asking.session_account import session_of
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import SessionFact

_TEXT = """MATCH (n:Session) WHERE n.revision >= 0 AND n.began_at >= $since AND n.began_at < $until
RETURN properties(n) ORDER BY n.began_at DESC LIMIT $limit"""
_NEVER = 2**53


async def sessions_listed(
    graph: GraphConnection, *, since: int | None = None, until: int | None = None, limit: int = 100
) -> list[SessionFact]:
    """Sessions that began from ``since`` to before ``until`` (ms), the newest first. Raises
    GraphAway, GraphRefused, QuestionTooWide."""
    span = {"since": since or 0, "until": until or _NEVER}
    rows = await look(graph, "the sessions", _TEXT, **span, limit=limit)
    read = [session_of(properties) for (properties,) in rows]
    return [one for one in read if one is not None]
