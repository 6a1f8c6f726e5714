"""Whose memory is served, and who calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers

from dcf.memory import Actor, ExperimentMemory, Memory

NODE = "DCF-Node"
"""The header that names the node in which a caller works."""
ACTOR = "DCF-Actor"
"""The header that says who calls, for the records of changes and reads."""
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ExperimentDesk:
    """The experiment ``checkpoint`` of a ``project``. ``environment`` names the current node of
    callers that name none; ``files`` is the folder that ``work_dir`` and ``experiments_root`` lie
    in."""

    memory: Memory
    project: str
    checkpoint: str
    by: Actor
    environment: Mapping[str, str]
    files: Path

    def experiment(self, headers: Mapping[str, str] | None = None) -> ExperimentMemory:
        """The memory as a caller with these headers has it, whose names are taken in any letters;
        None: as one on standard input has it."""
        given = Headers(headers or {})
        name = given.get(ACTOR, "")[:_LONGEST]
        by = Actor("agent", name, self.by.reason) if name.isprintable() and name else self.by
        named = {} if headers is None else {"how_to_name": f"send the header {NODE}"}
        experiment = ExperimentMemory(
            self.memory,
            self.project,
            self.checkpoint,
            by=by,
            environment=self.environment,
            files=self.files,
            **named,
        )
        experiment._set_current_node(given.get(NODE) or None)
        return experiment
