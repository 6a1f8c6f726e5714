"""Simulation: workers, crashes, a bad network and time itself under one seed.

The production code runs unchanged on the in-process twin of Redis; a checker holds every history
against the guarantees, and what fails once fails again from its seed. Needs the extra ``sim``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.simulation.campaign import settle, simulate_seeds
    from dcf.simulation.mutants import Mutant, mutants
    from dcf.simulation.reference_run import (
        Expectation,
        Reference,
        ReferenceRun,
        Undecided,
        Unsimulable,
    )
    from dcf.simulation.server import Sabotage
    from dcf.simulation.simulator import DEFAULT_STEPS, simulate
    from dcf.simulation.trial import Trial, attempt, attempt_all, equivalents, found, named
    from dcf.simulation.verdict import Verdict
    from dcf.simulation.violation import GUARANTEES, Guarantee, Violation
    from dcf.simulation.workflow_world import WorkflowWorld
    from dcf.simulation.world import OWN, World
else:
    export_late(__name__)

__all__ = [
    "DEFAULT_STEPS",
    "GUARANTEES",
    "OWN",
    "Expectation",
    "Guarantee",
    "Mutant",
    "Reference",
    "ReferenceRun",
    "Sabotage",
    "Trial",
    "Undecided",
    "Unsimulable",
    "Verdict",
    "Violation",
    "WorkflowWorld",
    "World",
    "attempt",
    "attempt_all",
    "equivalents",
    "found",
    "mutants",
    "named",
    "settle",
    "simulate",
    "simulate_seeds",
]
