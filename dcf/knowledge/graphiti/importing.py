"""The import of graphiti-core, which reports to its makers and reads .env files unless it is kept
from it."""

from __future__ import annotations

from importlib.util import find_spec

from dcf.knowledge.errors import KnowledgeError
from dcf_agents.installation import extra_command
from dcf_agents.telemetry import switch_off_telemetry


class GraphitiMissing(KnowledgeError):
    """Graphiti's search is not installed."""

    code = "graphiti_missing"

    def __init__(self) -> None:
        super().__init__(hint=extra_command("knowledge"))


def demand_graphiti() -> None:
    """Make ``graphiti_core`` ready to be imported, and import it. Raises GraphitiMissing."""
    # Read when something is reported, so that it has to stay.
    switch_off_telemetry()
    if find_spec("graphiti_core") is None:
        raise GraphitiMissing
    import dotenv

    loads = dotenv.load_dotenv
    # Called at the import of three modules: a .env of whatever folder this is would then hold for
    # the whole process.
    dotenv.load_dotenv = lambda *_, **__: False
    try:
        import graphiti_core  # noqa: F401
    finally:
        dotenv.load_dotenv = loads
