"""From an objective or a procedure to a workflow that is validated, approved and run.

``compile_sop`` makes a workflow of a procedure, without a model; ``decompile`` is the way back.
``Planner`` leads a conversation from an objective to a workflow that somebody approved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.planner.comparing.page import page_of
    from dcf.planner.comparing.picture import picture_of
    from dcf.planner.comparing.showing import ORIGIN, PLACE, lines_of, summary, where
    from dcf.planner.comparing.side_by_side import Part, SeenState, SideBySide, side_by_side
    from dcf.planner.compiling.binding import BindingQuestion, reads_text, with_bindings
    from dcf.planner.compiling.command_draft import write_command_draft
    from dcf.planner.compiling.command_steps import CommandSteps, command_steps
    from dcf.planner.compiling.compile import compile_sop
    from dcf.planner.compiling.gap import Gap, write_drafts
    from dcf.planner.compiling.market import THRESHOLDS, Finder, Market, Measured
    from dcf.planner.compiling.people import with_people
    from dcf.planner.compiling.plan import Plan, PlannedStep, Risk
    from dcf.planner.compiling.skill_choice import Candidate
    from dcf.planner.compiling.skill_offers import (
        FEWEST_MATCHED,
        LEAST_OFFERED,
        MOST_CLOSE,
        PERSON,
        fitting,
        is_open_to_skills,
    )
    from dcf.planner.compiling.tool_results import ToolResults
    from dcf.planner.compiling.version_choice import VersionChoice, choose_version
    from dcf.planner.conversation.advancing import FindContext, ModelAtHand
    from dcf.planner.conversation.bench import Bench, PlannedDraft, the_embedder
    from dcf.planner.conversation.draft_report import drafted_outcome, report_lines
    from dcf.planner.conversation.guidance import Guidance, Guide, History, history_of, no_guide
    from dcf.planner.conversation.permissions import Permissions, permissions_of, shown_digest
    from dcf.planner.conversation.planner import Planner
    from dcf.planner.conversation.planning import STEPS, Planning, Status
    from dcf.planner.conversation.proposing import blank_questions
    from dcf.planner.conversation.question import (
        COMMANDS,
        NEW,
        WANTED,
        Question,
        misread,
        wants_commands,
        wishes,
    )
    from dcf.planner.conversation.sourcing import GIVEN
    from dcf.planner.conversation.spending import DraftLimits, Spending
    from dcf.planner.conversation.store import PlanningStore
    from dcf.planner.decompiling.decompile import Decompiled, decompile
    from dcf.planner.drifting.base import Compile
    from dcf.planner.drifting.drift import Drift, drift, source_of
    from dcf.planner.drifting.edit import Edit
    from dcf.planner.drifting.machine_merge import Conflict, Takes
    from dcf.planner.drifting.step_changes import StepChange
    from dcf.planner.drifting.three_way import Side
    from dcf.planner.errors import (
        InvalidAnswers,
        PlanningConflict,
        PlanningDamaged,
        PlanningProblem,
        ShownOtherwise,
        UnknownPlanning,
        WorkflowChanged,
        WrongStatus,
    )
    from dcf.planner.matching.matcher import MARGIN, MATCH_THRESHOLDS, Match, Matched, Matcher
    from dcf.planner.matching.stored import Stored, stored_in
else:
    export_late(__name__)

__all__ = [
    "COMMANDS",
    "FEWEST_MATCHED",
    "GIVEN",
    "LEAST_OFFERED",
    "MARGIN",
    "MATCH_THRESHOLDS",
    "MOST_CLOSE",
    "NEW",
    "ORIGIN",
    "PERSON",
    "PLACE",
    "STEPS",
    "THRESHOLDS",
    "WANTED",
    "Bench",
    "BindingQuestion",
    "Candidate",
    "CommandSteps",
    "Compile",
    "Conflict",
    "Decompiled",
    "DraftLimits",
    "Drift",
    "Edit",
    "FindContext",
    "Finder",
    "Gap",
    "Guidance",
    "Guide",
    "History",
    "InvalidAnswers",
    "Market",
    "Match",
    "Matched",
    "Matcher",
    "Measured",
    "ModelAtHand",
    "Part",
    "Permissions",
    "Plan",
    "PlannedDraft",
    "PlannedStep",
    "Planner",
    "Planning",
    "PlanningConflict",
    "PlanningDamaged",
    "PlanningProblem",
    "PlanningStore",
    "Question",
    "Risk",
    "SeenState",
    "ShownOtherwise",
    "Side",
    "SideBySide",
    "Spending",
    "Status",
    "StepChange",
    "Stored",
    "Takes",
    "ToolResults",
    "UnknownPlanning",
    "VersionChoice",
    "WorkflowChanged",
    "WrongStatus",
    "blank_questions",
    "choose_version",
    "command_steps",
    "compile_sop",
    "decompile",
    "drafted_outcome",
    "drift",
    "fitting",
    "history_of",
    "is_open_to_skills",
    "lines_of",
    "misread",
    "no_guide",
    "page_of",
    "permissions_of",
    "picture_of",
    "reads_text",
    "report_lines",
    "shown_digest",
    "side_by_side",
    "source_of",
    "stored_in",
    "summary",
    "the_embedder",
    "wants_commands",
    "where",
    "wishes",
    "with_bindings",
    "with_people",
    "write_command_draft",
    "write_drafts",
]
