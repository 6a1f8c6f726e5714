"""Ephemeral workers: lease a state, load its skills, do the work, commit, go on."""

from __future__ import annotations

from dcf.worker.agent_tasks import SkilledAgents
from dcf.worker.current_work import Work, current_work
from dcf.worker.handler_import import InvalidHandlers, import_handlers
from dcf.worker.keeper import LeaseKeeper
from dcf.worker.keeper_thread import KeeperThread
from dcf.worker.performer import AgentPerformer, Handler, Performer, TaskFailure
from dcf.worker.process import Post, serve
from dcf.worker.worker import Worker, WorkerConfig

__all__ = [
    "AgentPerformer",
    "Handler",
    "InvalidHandlers",
    "KeeperThread",
    "LeaseKeeper",
    "Performer",
    "Post",
    "SkilledAgents",
    "TaskFailure",
    "Work",
    "Worker",
    "WorkerConfig",
    "current_work",
    "import_handlers",
    "serve",
]
