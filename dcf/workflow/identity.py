"""What tells one try of a state from every other, in this run and in others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from control_plane import Lease, Store, split_path
from dcf import asl
from dcf.workflow.run import Run

FAN_RUN = "run"
"""Where a fan-out keeps the identity of the try that made it: a redrive goes on with the same."""


def identity_of(run: Run, path: str, visit: int, retries: Mapping[int, int]) -> str:
    """The ``asl.Visit.identity`` of a try of the state at ``path``."""
    return asl.visit_identity(run_name(run), split_path(path), visit, retries)


async def lease_identity(store: Store, run: Run, lease: Lease, state: asl.State) -> str:
    """The identity that the holder of ``lease`` steps ``state`` with: at a join that of the try
    which fanned out."""
    if lease.event == "joined" and is_distributed(state):
        shared = await store.value(lease.workflow_id, lease.fan)
        if shared and FAN_RUN in shared:
            return str(shared[FAN_RUN])
    return identity_of(run, lease.path, lease.visit, lease.retries)


def is_distributed(state: asl.State) -> bool:
    """Whether the children of ``state`` count as executions of their own."""
    return isinstance(state, asl.MapState) and state.is_distributed


def run_name(run: Run) -> str:
    """What the context object calls the execution."""
    execution: Mapping[str, Any] = run.execution.get("Execution") or {}
    return str(execution.get("Id") or run.workflow_id)
