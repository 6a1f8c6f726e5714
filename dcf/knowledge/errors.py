"""What can go wrong with the graph. A class's docstring is its default message."""

from __future__ import annotations


class KnowledgeError(Exception):
    """The knowledge graph cannot be used."""

    code = "knowledge_error"
    hint = ""

    def __init__(self, message: str | None = None, *, hint: str = "", **fields: object) -> None:
        self.fields = fields
        said = message or (type(self).__doc__ or "").strip().format(**fields)
        # What a server or a library gives as a reason may end with a full stop of its own.
        self.message = f"{said.rstrip('.')}." if said.endswith("..") else said
        self.hint = hint or self.hint
        super().__init__(self.message)


class GraphOff(KnowledgeError):
    """The knowledge graph is switched off (DCF_GRAPH=off)."""

    code = "graph_off"
    hint = "unset DCF_GRAPH; runs that ended meanwhile are still there: `dcf graph sync --all`"


class GraphAway(KnowledgeError):
    """The graph server {server} does not answer: {reason}."""

    code = "graph_away"
    hint = "nothing is lost: what is to be written waits in the outbox"


class GraphUnsuitable(GraphAway):
    """The server at {server} is no FalkorDB: it has no graph commands."""

    code = "graph_unsuitable"
    hint = (
        "correct DCF_GRAPH_URL, load FalkorDB's module there, or unset DCF_GRAPH_URL for the "
        "embedded server"
    )


class VectorsForeign(GraphAway):
    """The graph at {server} has vectors of {found} numbers, and DCF makes them of {width}."""

    code = "graph_vectors"
    hint = "`dcf graph status --mend` makes them anew; what is to be written waits in the outbox"


class GraphRefused(KnowledgeError):
    """The graph server refused a query: {reason}."""

    code = "graph_refused"


class GraphSlow(GraphRefused):
    """The graph server did not finish a query in its time: {reason}."""

    code = "graph_slow"


class RelayStuck(KnowledgeError):
    """Of {count} entries in a row none could be written to the graph: {reason}."""

    code = "relay_stuck"
    hint = (
        "nothing is lost: they wait in the outbox, and are tried again; the log has all that "
        "happened"
    )


class SettingUnusable(KnowledgeError):
    """{name} cannot be used: {reason}."""

    code = "graph_setting"
