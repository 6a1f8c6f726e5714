"""Conformance: a corpus of recorded executions, run through the interpreter or the engine.

``read_corpus`` reads the cases, ``run_corpus`` runs them, ``report`` judges what came out. The room
knows the format of a corpus and no case of any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.conformance.case import OPS, Case, Op
    from dcf.conformance.corpus import BadCorpus, read_corpus
    from dcf.conformance.difference import Difference, differences
    from dcf.conformance.executor import EngineName, Executor, Job, Outcome
    from dcf.conformance.judge import LEVELS, Judgement, Level, Required, judge
    from dcf.conformance.report import Judged, Report, Score, report
    from dcf.conformance.result import Result, read_results, write_results
    from dcf.conformance.run_corpus import open_executor, run_case, run_corpus
else:
    export_late(__name__)

__all__ = [
    "LEVELS",
    "OPS",
    "BadCorpus",
    "Case",
    "Difference",
    "EngineName",
    "Executor",
    "Job",
    "Judged",
    "Judgement",
    "Level",
    "Op",
    "Outcome",
    "Report",
    "Required",
    "Result",
    "Score",
    "differences",
    "judge",
    "open_executor",
    "read_corpus",
    "read_results",
    "report",
    "run_case",
    "run_corpus",
    "write_results",
]
