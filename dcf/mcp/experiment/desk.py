"""Whose memory is served, and who calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dcf.memory import Actor, ExperimentMemory, Memory

NODE = "dcf-node"
"""The header that names the node in which a caller works."""
ACTOR = "dcf-actor"
"""The header that says who calls, for the records of changes and reads."""
_CURRENT = "ARI_CURRENT_NODE_ID"
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
        """The memory as a caller with these headers has it."""
        given = headers or {}
        node, name = given.get(NODE), given.get(ACTOR, "")[:_LONGEST]
        environment = {**self.environment, _CURRENT: node} if node else self.environment
        by = Actor("agent", name, self.by.reason) if name.isprintable() and name else self.by
        return ExperimentMemory(
            self.memory,
            self.project,
            self.checkpoint,
            by=by,
            environment=environment,
            files=self.files,
        )
