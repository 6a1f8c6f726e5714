"""Ephemeral workers: lease a state, load its skills, do the work, commit, go on."""

from __future__ import annotations

from dcf.worker.agent_tasks import SkilledAgents
from dcf.worker.blob_keep import keep_in
from dcf.worker.current_work import Work, current_work
from dcf.worker.external_ledger import CallsOpen, ExternalLedger, OtherCall
from dcf.worker.generated_rules import (
    LOCK,
    NO_LOCK,
    POLICY,
    approvers_of,
    lock_is_missing,
    read_lock,
    read_policy,
)
from dcf.worker.handler_import import InvalidHandlers, import_handlers
from dcf.worker.keeper import LeaseKeeper
from dcf.worker.keeper_thread import KeeperThread
from dcf.worker.lease_ledger import LeaseLedger
from dcf.worker.lease_lost import LeaseLost
from dcf.worker.performer import AgentPerformer, Beat, Handler, Performer, TaskFailure
from dcf.worker.process import Post, serve
from dcf.worker.skill_gates import ChangedSkill, SkillGates, declared_by, schemas_of
from dcf.worker.try_budget import budgets_of
from dcf.worker.worker import Worker, WorkerConfig

__all__ = [
    "LOCK",
    "NO_LOCK",
    "POLICY",
    "AgentPerformer",
    "Beat",
    "CallsOpen",
    "ChangedSkill",
    "ExternalLedger",
    "Handler",
    "InvalidHandlers",
    "KeeperThread",
    "LeaseKeeper",
    "LeaseLedger",
    "LeaseLost",
    "OtherCall",
    "Performer",
    "Post",
    "SkillGates",
    "SkilledAgents",
    "TaskFailure",
    "Work",
    "Worker",
    "WorkerConfig",
    "approvers_of",
    "budgets_of",
    "current_work",
    "declared_by",
    "import_handlers",
    "keep_in",
    "lock_is_missing",
    "read_lock",
    "read_policy",
    "schemas_of",
    "serve",
]
