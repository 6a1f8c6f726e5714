"""Ephemeral workers: lease a state, load its skills, do the work, commit, go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.worker.agent_allowance import AgentAllowances, make_record
    from dcf.worker.agent_observer import AgentObserver
    from dcf.worker.agent_removal import remove_agent
    from dcf.worker.agent_sweeper import AgentSweeper
    from dcf.worker.agent_tasks import AgentTasks, SkilledAgents
    from dcf.worker.agent_tools import AgentTools
    from dcf.worker.as_agent import AGENT_UNAVAILABLE, AsAgent, fence_of, memory_failure
    from dcf.worker.blob_keep import keep_in
    from dcf.worker.conversations import SessionTurns, SpokenTurn, spoken_turns
    from dcf.worker.current_toolbox import CurrentToolbox
    from dcf.worker.current_work import Work, current_work
    from dcf.worker.external_ledger import CallsOpen, ExternalLedger, OtherCall
    from dcf.worker.generated_rules import (
        LOCK,
        NO_LOCK,
        POLICY,
        approvers_of,
        finished,
        lock_is_missing,
        read_lock,
        read_policy,
    )
    from dcf.worker.handler_import import InvalidHandlers, import_handlers
    from dcf.worker.keeper import LeaseKeeper
    from dcf.worker.keeper_thread import KeeperThread
    from dcf.worker.lease_ledger import LeaseLedger
    from dcf.worker.lease_lost import GivenBack, LeaseLost
    from dcf.worker.live_environment import LiveEnvironment
    from dcf.worker.node_place import chooses_memory
    from dcf.worker.patience import Outage
    from dcf.worker.performer import AgentPerformer, Beat, Handler, Performer, TaskFailure
    from dcf.worker.process import Post, Premises, open_premises, open_queue, serve
    from dcf.worker.run_extraction import (
        EventReader,
        RunExtraction,
        ended_runs,
        extraction_of,
        prune_queue,
    )
    from dcf.worker.run_memory import RunMemory
    from dcf.worker.run_observer import MARGIN_MS, RunObserver, Sweep
    from dcf.worker.run_removal import Kept, remove_run, why_kept
    from dcf.worker.shutdown import Drainable, run_to_its_end, until_told
    from dcf.worker.skill_gates import ChangedSkill, SkillGates, declared_by, schemas_of
    from dcf.worker.solo import SoloProcesses, Words, assignment_of, exit_of
    from dcf.worker.task_memory import TaskMemory, task_memory
    from dcf.worker.try_budget import budgets_of
    from dcf.worker.watched import Watched
    from dcf.worker.worker import Worker, WorkerConfig
    from dcf.worker.worker_agents import WorkerAgents, is_sealed, tags_for
    from dcf.worker.working_skills import FollowedSkills, SkillsInUse, WorkingSkills
else:
    export_late(__name__)

__all__ = [
    "AGENT_UNAVAILABLE",
    "LOCK",
    "MARGIN_MS",
    "NO_LOCK",
    "POLICY",
    "AgentAllowances",
    "AgentObserver",
    "AgentPerformer",
    "AgentSweeper",
    "AgentTasks",
    "AgentTools",
    "AsAgent",
    "Beat",
    "CallsOpen",
    "ChangedSkill",
    "CurrentToolbox",
    "Drainable",
    "EventReader",
    "ExternalLedger",
    "FollowedSkills",
    "GivenBack",
    "Handler",
    "InvalidHandlers",
    "KeeperThread",
    "Kept",
    "LeaseKeeper",
    "LeaseLedger",
    "LeaseLost",
    "LiveEnvironment",
    "OtherCall",
    "Outage",
    "Performer",
    "Post",
    "Premises",
    "RunExtraction",
    "RunMemory",
    "RunObserver",
    "SessionTurns",
    "SkillGates",
    "SkilledAgents",
    "SkillsInUse",
    "SoloProcesses",
    "SpokenTurn",
    "Sweep",
    "TaskFailure",
    "TaskMemory",
    "Watched",
    "Words",
    "Work",
    "Worker",
    "WorkerAgents",
    "WorkerConfig",
    "WorkingSkills",
    "approvers_of",
    "assignment_of",
    "budgets_of",
    "chooses_memory",
    "current_work",
    "declared_by",
    "ended_runs",
    "exit_of",
    "extraction_of",
    "fence_of",
    "finished",
    "import_handlers",
    "is_sealed",
    "keep_in",
    "lock_is_missing",
    "make_record",
    "memory_failure",
    "open_premises",
    "open_queue",
    "prune_queue",
    "read_lock",
    "read_policy",
    "remove_agent",
    "remove_run",
    "run_to_its_end",
    "schemas_of",
    "serve",
    "spoken_turns",
    "tags_for",
    "task_memory",
    "until_told",
    "why_kept",
]
