"""The durable core of DCF: states, leases and effects in Redis.

It knows documents, leases, commits, queues, timers and history; nothing of ASL, agents or models.
Documents are the truth, messages are hints, and every write to a state is fenced.
"""

from __future__ import annotations

from control_plane import history, timers
from control_plane.backend import Backend
from control_plane.clock import Clock, NewToken, new_token, wall_clock
from control_plane.documents import (
    Failure,
    Holder,
    Join,
    Limits,
    Output,
    RunDocument,
    RunStatus,
    StateDocument,
    StateStatus,
)
from control_plane.errors import (
    BadDocument,
    BadName,
    ControlPlaneError,
    CorruptHistory,
    Disconnected,
    MissingBlob,
    PayloadTooLarge,
    RunExists,
    ServerError,
    UnknownRun,
    UnknownState,
)
from control_plane.keys import (
    DONE,
    INDEX,
    RunKeys,
    check_workflow_id,
    enclosing_joins,
    encode_name,
    inside,
    sibling,
    split_path,
)
from control_plane.lease import (
    DEFAULT_TTL_MS,
    Commit,
    Committed,
    Enter,
    Fan,
    Lease,
    Refusal,
    Wait,
)
from control_plane.payload import Payload
from control_plane.queue import Hint, HintQueue
from control_plane.reader import Results
from control_plane.redis_backend import RedisBackend
from control_plane.run_transitions import FirstState
from control_plane.store import Store

__all__ = [
    "DEFAULT_TTL_MS",
    "DONE",
    "INDEX",
    "Backend",
    "BadDocument",
    "BadName",
    "Clock",
    "Commit",
    "Committed",
    "ControlPlaneError",
    "CorruptHistory",
    "Disconnected",
    "Enter",
    "Failure",
    "Fan",
    "FirstState",
    "Hint",
    "HintQueue",
    "Holder",
    "Join",
    "Lease",
    "Limits",
    "MissingBlob",
    "NewToken",
    "Output",
    "Payload",
    "PayloadTooLarge",
    "RedisBackend",
    "Refusal",
    "Results",
    "RunDocument",
    "RunExists",
    "RunKeys",
    "RunStatus",
    "ServerError",
    "StateDocument",
    "StateStatus",
    "Store",
    "UnknownRun",
    "UnknownState",
    "Wait",
    "check_workflow_id",
    "enclosing_joins",
    "encode_name",
    "history",
    "inside",
    "new_token",
    "sibling",
    "split_path",
    "timers",
    "wall_clock",
]
