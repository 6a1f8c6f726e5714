"""What finished runs tell, computed: rates, comparisons, failures, retries, bottlenecks, drift."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.advisors.analysis.analysis import Analysis, Collector, analyse
    from dcf.advisors.analysis.bottlenecks import Bottleneck, critical_path
    from dcf.advisors.analysis.cause import pattern_of
    from dcf.advisors.analysis.contest import Contest, Rival, skill_name
    from dcf.advisors.analysis.drift import Drift
    from dcf.advisors.analysis.failures import FailureCluster
    from dcf.advisors.analysis.recalibration import Recalibration, Signal, TierShare
    from dcf.advisors.analysis.retries import Retries
    from dcf.advisors.analysis.track import RUNS, TrackRecord
else:
    export_late(__name__)

__all__ = [
    "RUNS",
    "Analysis",
    "Bottleneck",
    "Collector",
    "Contest",
    "Drift",
    "FailureCluster",
    "Recalibration",
    "Retries",
    "Rival",
    "Signal",
    "TierShare",
    "TrackRecord",
    "analyse",
    "critical_path",
    "pattern_of",
    "skill_name",
]
