"""What agents remember, in one SQLite file: agents, blocks, and the record of every change.

``Memory.open`` is the way in.
"""

from __future__ import annotations

from dcf.memory.actor import SYSTEM, Actor, ActorKind
from dcf.memory.agent import CONTEXT_WINDOW, Agent, Lifecycle, NewAgent
from dcf.memory.agents import AgentExists, AgentFields, Agents, UnknownAgent
from dcf.memory.attached_tools import AttachedTools
from dcf.memory.audit.conflict import Conflict, RollbackRefused
from dcf.memory.audit.event import Event
from dcf.memory.audit.events import Events
from dcf.memory.block import Block, BlockType, NewBlock, OnLimit, Provenance
from dcf.memory.blocks import (
    BlockExists,
    BlockFields,
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
from dcf.memory.context import Context, Contexts, ContextTooSmall
from dcf.memory.database import (
    BackupExists,
    CipherMissing,
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
    rekey,
    restore,
    users_of,
)
from dcf.memory.errors import InvalidEntry, MemoryProblem, RevisionConflict
from dcf.memory.ids import Clock, NewId, random_id
from dcf.memory.letter import Letter, LetterState, NewLetter
from dcf.memory.letters import CircularMessage, LetterLost, Letters, UnknownLetter
from dcf.memory.memory import Memory
from dcf.memory.message import Message, NewMessage, Role
from dcf.memory.messages import Messages, UnknownMessage
from dcf.memory.observer import Observer
from dcf.memory.passage import NewPassage, Passage
from dcf.memory.passages import PassageFields, Passages, UnknownPassage
from dcf.memory.search import KINDS, Found, Kind, Search
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
from dcf.memory.turn_record import TurnRecord, TurnState, Usage
from dcf.memory.turns import Turns

__all__ = [
    "CONTEXT_WINDOW",
    "KINDS",
    "SYSTEM",
    "Actor",
    "ActorKind",
    "Agent",
    "AgentExists",
    "AgentFields",
    "Agents",
    "Arrival",
    "Arrivals",
    "ArrivingMessage",
    "AttachedTools",
    "BackupExists",
    "Block",
    "BlockExists",
    "BlockFields",
    "BlockShared",
    "BlockType",
    "Blocks",
    "CipherMissing",
    "CircularMessage",
    "Clock",
    "Conflict",
    "Context",
    "ContextTooSmall",
    "Contexts",
    "Departure",
    "Event",
    "Events",
    "Found",
    "InvalidEntry",
    "Kind",
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
    "NewPassage",
    "NoSuchBlock",
    "Observer",
    "OnLimit",
    "OnNameTaken",
    "OverLimit",
    "Passage",
    "PassageFields",
    "Passages",
    "Provenance",
    "ReadOnlyBlock",
    "RevisionConflict",
    "Role",
    "RollbackRefused",
    "Search",
    "Source",
    "TextNotFound",
    "TextNotUnique",
    "ToolSpec",
    "TurnRecord",
    "TurnState",
    "Turns",
    "UnknownAgent",
    "UnknownBlock",
    "UnknownLetter",
    "UnknownMessage",
    "UnknownPassage",
    "UnusableKey",
    "Usage",
    "give_out",
    "random_id",
    "rekey",
    "restore",
    "take_in",
    "users_of",
]
