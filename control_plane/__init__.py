"""The durable core of DCF: states, leases and effects in Redis.

It knows documents, leases, commits, queues, timers and history; nothing of ASL, agents or models.
Documents are the truth, messages are hints, and every write to a state is fenced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane.late_exports import export_late, load_exports

if TYPE_CHECKING:
    from control_plane import (
        claims,
        history,
        host_signs,
        keys,
        payload,
        refusals,
        run_lists,
        script,
        timers,
        turns,
    )
    from control_plane.accepting import Refused, refused_now
    from control_plane.agents import (
        AgentChange,
        AgentConflict,
        AgentDocument,
        AgentPage,
        AgentStore,
        check_agent_id,
    )
    from control_plane.assigned import assign, assigned
    from control_plane.backend import Backend
    from control_plane.broken_run import remove_broken, what_is_broken
    from control_plane.claims import ACCEPTED_EVERY_MS, CLAIM_MS, Claimed
    from control_plane.clock import Clock, NewToken, new_token, wall_clock
    from control_plane.conductors import ConductorDocument, ConductorStore
    from control_plane.documents import (
        APPROVAL_PROTOCOL,
        EXPRESSION_PROTOCOL,
        FIRST_PROTOCOL,
        LANGUAGE_PROTOCOL,
        RUN_OVER,
        SCHEMA_VERSION,
        Failure,
        Holder,
        Join,
        Limits,
        RunStatus,
        StateDocument,
        StateStatus,
    )
    from control_plane.errors import (
        AgentBusy,
        AgentExists,
        BadDocument,
        BadName,
        BadPlace,
        BrokenRun,
        ConductorBusy,
        ConductorExists,
        ControlPlaneError,
        CorruptHistory,
        DamagedBlob,
        DamagedRun,
        Disconnected,
        MissingBlob,
        NameTaken,
        OutboxFull,
        PayloadTooLarge,
        RecordBusy,
        RecordExists,
        RecordFull,
        RefusedForGood,
        RefusedForNow,
        RunExists,
        ServerError,
        SessionBusy,
        SessionExists,
        SessionFull,
        UnknownAgent,
        UnknownConductor,
        UnknownRecord,
        UnknownRun,
        UnknownSession,
        UnknownState,
        WrongType,
    )
    from control_plane.failure_text import cause_of, cut_text, error_of
    from control_plane.history import HistoryEvent
    from control_plane.host_signs import LivingHost
    from control_plane.keys import (
        APPROVALS,
        DONE,
        INDEX,
        RunKeys,
        check_workflow_id,
        enclosing_joins,
        encode_name,
        frame_of,
        inside,
        sibling,
        split_path,
    )
    from control_plane.lease import (
        DEFAULT_TTL_MS,
        NO_BUDGET,
        Alone,
        Budget,
        Commit,
        Committed,
        Enter,
        Fan,
        Lease,
        Noted,
        OverBudget,
        Question,
        Refusal,
        Wait,
    )
    from control_plane.outbox import Outbox, OutboxEntry, OutboxLag, sweep_outbox
    from control_plane.output import Output
    from control_plane.patience import insist, patiently
    from control_plane.payload import JSON, Payload
    from control_plane.queue import Hint, HintQueue, HintQueues, signs_of_life
    from control_plane.reader import Results
    from control_plane.record_document import RecordChange, RecordDocument
    from control_plane.record_history import RecordTail, read_record_history
    from control_plane.record_history import read_record_history as read_agent_history
    from control_plane.record_reader import RecordPage
    from control_plane.records import RecordConflict, RecordStore
    from control_plane.redis_backend import RedisBackend
    from control_plane.run_damage import check_run, damage_is_told, find_damage
    from control_plane.run_document import RunDocument
    from control_plane.run_export import (
        NotExportable,
        RestoreLost,
        RunExport,
        export_run,
        lay_out,
        restore_run,
    )
    from control_plane.run_file import BadRunFile, pack, unpack
    from control_plane.run_space import (
        RunsSpace,
        names_found,
        space_of,
        space_of_keys,
        space_of_runs,
    )
    from control_plane.run_transitions import FirstState
    from control_plane.script import Script
    from control_plane.sessions import SessionDocument, SessionStore, check_session_id
    from control_plane.store import Store
    from control_plane.tool_calls import CALLS_LIMIT, ToolCall, call_name
else:
    export_late(__name__)

__all__ = [
    "ACCEPTED_EVERY_MS",
    "APPROVALS",
    "APPROVAL_PROTOCOL",
    "CALLS_LIMIT",
    "CLAIM_MS",
    "DEFAULT_TTL_MS",
    "DONE",
    "EXPRESSION_PROTOCOL",
    "FIRST_PROTOCOL",
    "INDEX",
    "JSON",
    "LANGUAGE_PROTOCOL",
    "NO_BUDGET",
    "RUN_OVER",
    "SCHEMA_VERSION",
    "AgentBusy",
    "AgentChange",
    "AgentConflict",
    "AgentDocument",
    "AgentExists",
    "AgentPage",
    "AgentStore",
    "Alone",
    "Backend",
    "BadDocument",
    "BadName",
    "BadPlace",
    "BadRunFile",
    "BrokenRun",
    "Budget",
    "Claimed",
    "Clock",
    "Commit",
    "Committed",
    "ConductorBusy",
    "ConductorDocument",
    "ConductorExists",
    "ConductorStore",
    "ControlPlaneError",
    "CorruptHistory",
    "DamagedBlob",
    "DamagedRun",
    "Disconnected",
    "Enter",
    "Failure",
    "Fan",
    "FirstState",
    "Hint",
    "HintQueue",
    "HintQueues",
    "HistoryEvent",
    "Holder",
    "Join",
    "Lease",
    "Limits",
    "LivingHost",
    "MissingBlob",
    "NameTaken",
    "NewToken",
    "NotExportable",
    "Noted",
    "Outbox",
    "OutboxEntry",
    "OutboxFull",
    "OutboxLag",
    "Output",
    "OverBudget",
    "Payload",
    "PayloadTooLarge",
    "Question",
    "RecordBusy",
    "RecordChange",
    "RecordConflict",
    "RecordDocument",
    "RecordExists",
    "RecordFull",
    "RecordPage",
    "RecordStore",
    "RecordTail",
    "RedisBackend",
    "Refusal",
    "Refused",
    "RefusedForGood",
    "RefusedForNow",
    "RestoreLost",
    "Results",
    "RunDocument",
    "RunExists",
    "RunExport",
    "RunKeys",
    "RunStatus",
    "RunsSpace",
    "Script",
    "ServerError",
    "SessionBusy",
    "SessionDocument",
    "SessionExists",
    "SessionFull",
    "SessionStore",
    "StateDocument",
    "StateStatus",
    "Store",
    "ToolCall",
    "UnknownAgent",
    "UnknownConductor",
    "UnknownRecord",
    "UnknownRun",
    "UnknownSession",
    "UnknownState",
    "Wait",
    "WrongType",
    "assign",
    "assigned",
    "call_name",
    "cause_of",
    "check_agent_id",
    "check_run",
    "check_session_id",
    "check_workflow_id",
    "claims",
    "cut_text",
    "damage_is_told",
    "enclosing_joins",
    "encode_name",
    "error_of",
    "export_late",
    "export_run",
    "find_damage",
    "frame_of",
    "history",
    "host_signs",
    "inside",
    "insist",
    "keys",
    "lay_out",
    "load_exports",
    "names_found",
    "new_token",
    "pack",
    "patiently",
    "payload",
    "read_agent_history",
    "read_record_history",
    "refusals",
    "refused_now",
    "remove_broken",
    "restore_run",
    "run_lists",
    "script",
    "sibling",
    "signs_of_life",
    "space_of",
    "space_of_keys",
    "space_of_runs",
    "split_path",
    "sweep_outbox",
    "timers",
    "turns",
    "unpack",
    "wall_clock",
    "what_is_broken",
]
