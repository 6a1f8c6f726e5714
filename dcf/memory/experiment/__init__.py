"""The memory of an experiment, in the shapes that programs for tree search call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.experiment.experiment import ExperimentMemory
    from dcf.memory.experiment.operations import OPERATIONS, Operation
else:
    export_late(__name__)

__all__ = ["OPERATIONS", "ExperimentMemory", "Operation"]
