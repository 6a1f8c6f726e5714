"""What agents remember, in one SQLite file: agents, blocks, and the record of every change.

``Memory.open`` is the way in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.actor import SYSTEM, Actor, ActorKind
    from dcf.memory.agent import CONTEXT_WINDOW, Agent, Lifecycle, NewAgent
    from dcf.memory.agents import AgentExists, AgentFields, Agents, UnknownAgent
    from dcf.memory.attached_tools import AttachedTools
    from dcf.memory.audit.border import HistoryForgotten
    from dcf.memory.audit.conflict import Conflict, RollbackRefused
    from dcf.memory.audit.event import Event
    from dcf.memory.audit.events import Events
    from dcf.memory.block import Block, BlockType, NewBlock, OnLimit, Provenance
    from dcf.memory.blocks import (
        BlockExists,
        BlockFields,
        BlockOfProject,
        Blocks,
        BlockShared,
        Labels,
        NoSuchBlock,
        OverLimit,
        ReadOnlyBlock,
        TextNotFound,
        TextNotUnique,
        UnknownBlock,
    )
    from dcf.memory.context import Budget, Context, Contexts, ContextTooSmall, Pack, Packed
    from dcf.memory.database import (
        BackupExists,
        CipherMissing,
        Database,
        MemoryBusy,
        MemoryCorrupt,
        MemoryForeign,
        MemoryFull,
        MemoryInUse,
        MemoryKey,
        MemoryTooNew,
        MemoryUnusable,
        Source,
        UnusableKey,
        UnusableValue,
        rekey,
        restore,
        users_of,
    )
    from dcf.memory.errors import InvalidEntry, MemoryProblem, RevisionConflict
    from dcf.memory.garbage import Garbage, GarbageReport, Retention
    from dcf.memory.ids import Clock, NewId, random_id
    from dcf.memory.letter import Letter, LetterState, NewLetter
    from dcf.memory.letters import CircularMessage, LetterLost, Letters, UnknownLetter
    from dcf.memory.memory import Memory
    from dcf.memory.message import Message, NewMessage, Role, heading_of
    from dcf.memory.messages import Messages, UnknownMessage
    from dcf.memory.observation import (
        CONCEPTS,
        ICONS,
        TYPES,
        ArrivingObservation,
        Artifact,
        Concept,
        NewObservation,
        Observation,
        ObservationRecord,
        ObservationType,
        Occurrence,
        Origin,
        TakenIn,
    )
    from dcf.memory.observations import (
        AmbiguousObservation,
        Filter,
        Forgotten,
        NothingChosen,
        Observations,
        SameObservation,
        Texts,
        UnknownObservation,
        line_of,
        read_line,
    )
    from dcf.memory.observer import Observer
    from dcf.memory.passage import NewPassage, Passage
    from dcf.memory.passages import PassageFields, Passages, UnknownPassage
    from dcf.memory.project import NewProject, Project
    from dcf.memory.projects import (
        NotShareable,
        ProjectExists,
        ProjectFields,
        ProjectHasLabel,
        Projects,
        UnknownProject,
        UnknownProjectBlock,
    )
    from dcf.memory.scratch_pad import PAD_BYTES, PAD_TTL_MS, PadOutcome, ScratchPad
    from dcf.memory.scratch_pads import NoScratchPad, PadFull, ScratchPads
    from dcf.memory.search import (
        AGENT_KINDS,
        KINDS,
        TIME_EXAMPLES,
        Found,
        Kind,
        Search,
        TimeSpan,
        span_of,
    )
    from dcf.memory.session import Session, WorkContext, current_context, working_in
    from dcf.memory.sessions import SessionEnded, Sessions, UnknownSession
    from dcf.memory.setting import (
        CONTEXT_MODES,
        BadContextSetting,
        ContextMode,
        ContextSetting,
        source_of,
    )
    from dcf.memory.skill import LOADED_SKILLS, SKILLS, Discovery, FoundSkill, Skill, SyncReport
    from dcf.memory.skill_folders import SkillFolders, SkillsTooLarge, UnknownSkills
    from dcf.memory.stats import AgentStats, BlockStats, KindStats, Stats
    from dcf.memory.thread import (
        NewThread,
        NewTurn,
        Outline,
        Synced,
        Thread,
        ThreadStatus,
        ToolUse,
        Turn,
    )
    from dcf.memory.threads import FileReport, ThreadFiles, Threads, UnknownThread, UnknownTurn
    from dcf.memory.tool_spec import ToolSpec
    from dcf.memory.transfer import (
        Arrival,
        Arrivals,
        ArrivingMessage,
        Departure,
        OnNameTaken,
        give_out,
        take_in,
    )
    from dcf.memory.turn_record import TurnFence, TurnRecord, TurnState, Usage
    from dcf.memory.turns import TurnFenced, TurnLost, Turns, TurnUnderWay
else:
    export_late(__name__)

__all__ = [
    "AGENT_KINDS",
    "CONCEPTS",
    "CONTEXT_MODES",
    "CONTEXT_WINDOW",
    "ICONS",
    "KINDS",
    "LOADED_SKILLS",
    "PAD_BYTES",
    "PAD_TTL_MS",
    "SKILLS",
    "SYSTEM",
    "TIME_EXAMPLES",
    "TYPES",
    "Actor",
    "ActorKind",
    "Agent",
    "AgentExists",
    "AgentFields",
    "AgentStats",
    "Agents",
    "AmbiguousObservation",
    "Arrival",
    "Arrivals",
    "ArrivingMessage",
    "ArrivingObservation",
    "Artifact",
    "AttachedTools",
    "BackupExists",
    "BadContextSetting",
    "Block",
    "BlockExists",
    "BlockFields",
    "BlockOfProject",
    "BlockShared",
    "BlockStats",
    "BlockType",
    "Blocks",
    "Budget",
    "CipherMissing",
    "CircularMessage",
    "Clock",
    "Concept",
    "Conflict",
    "Context",
    "ContextMode",
    "ContextSetting",
    "ContextTooSmall",
    "Contexts",
    "Database",
    "Departure",
    "Discovery",
    "Event",
    "Events",
    "FileReport",
    "Filter",
    "Forgotten",
    "Found",
    "FoundSkill",
    "Garbage",
    "GarbageReport",
    "HistoryForgotten",
    "InvalidEntry",
    "Kind",
    "KindStats",
    "Labels",
    "Letter",
    "LetterLost",
    "LetterState",
    "Letters",
    "Lifecycle",
    "Memory",
    "MemoryBusy",
    "MemoryCorrupt",
    "MemoryForeign",
    "MemoryFull",
    "MemoryInUse",
    "MemoryKey",
    "MemoryProblem",
    "MemoryTooNew",
    "MemoryUnusable",
    "Message",
    "Messages",
    "NewAgent",
    "NewBlock",
    "NewId",
    "NewLetter",
    "NewMessage",
    "NewObservation",
    "NewPassage",
    "NewProject",
    "NewThread",
    "NewTurn",
    "NoScratchPad",
    "NoSuchBlock",
    "NotShareable",
    "NothingChosen",
    "Observation",
    "ObservationRecord",
    "ObservationType",
    "Observations",
    "Observer",
    "Occurrence",
    "OnLimit",
    "OnNameTaken",
    "Origin",
    "Outline",
    "OverLimit",
    "Pack",
    "Packed",
    "PadFull",
    "PadOutcome",
    "Passage",
    "PassageFields",
    "Passages",
    "Project",
    "ProjectExists",
    "ProjectFields",
    "ProjectHasLabel",
    "Projects",
    "Provenance",
    "ReadOnlyBlock",
    "Retention",
    "RevisionConflict",
    "Role",
    "RollbackRefused",
    "SameObservation",
    "ScratchPad",
    "ScratchPads",
    "Search",
    "Session",
    "SessionEnded",
    "Sessions",
    "Skill",
    "SkillFolders",
    "SkillsTooLarge",
    "Source",
    "Stats",
    "SyncReport",
    "Synced",
    "TakenIn",
    "TextNotFound",
    "TextNotUnique",
    "Texts",
    "Thread",
    "ThreadFiles",
    "ThreadStatus",
    "Threads",
    "TimeSpan",
    "ToolSpec",
    "ToolUse",
    "Turn",
    "TurnFence",
    "TurnFenced",
    "TurnLost",
    "TurnRecord",
    "TurnState",
    "TurnUnderWay",
    "Turns",
    "UnknownAgent",
    "UnknownBlock",
    "UnknownLetter",
    "UnknownMessage",
    "UnknownObservation",
    "UnknownPassage",
    "UnknownProject",
    "UnknownProjectBlock",
    "UnknownSession",
    "UnknownSkills",
    "UnknownThread",
    "UnknownTurn",
    "UnusableKey",
    "UnusableValue",
    "Usage",
    "WorkContext",
    "current_context",
    "give_out",
    "heading_of",
    "line_of",
    "random_id",
    "read_line",
    "rekey",
    "restore",
    "source_of",
    "span_of",
    "take_in",
    "users_of",
    "working_in",
]
