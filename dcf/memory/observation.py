"""An observation: something that happened and is worth knowing again, told in layers.

Who looks for something reads the index first (some 30 tokens each), then the details of what looks
useful, and the source itself if that does not do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from dcf.citation import Citation

ObservationType: TypeAlias = Literal[
    "decision", "bugfix", "feature", "refactor", "discovery", "change"
]
Concept: TypeAlias = Literal[
    "how-it-works",
    "why-it-exists",
    "what-changed",
    "problem-solution",
    "gotcha",
    "pattern",
    "trade-off",
]
ArtifactType: TypeAlias = Literal["file", "issue", "pr", "commit", "url"]
Action: TypeAlias = Literal["read", "modified", "created", "deleted"]

TYPES: tuple[ObservationType, ...] = get_args(ObservationType)
CONCEPTS: tuple[Concept, ...] = get_args(Concept)
ARTIFACT_TYPES: tuple[ArtifactType, ...] = get_args(ArtifactType)
ACTIONS: tuple[Action, ...] = get_args(Action)
ICONS: Mapping[ObservationType, str] = MappingProxyType(
    {
        "decision": "\N{LARGE RED CIRCLE}",
        "bugfix": "\N{LARGE GREEN CIRCLE}",
        "feature": "\N{LARGE BLUE CIRCLE}",
        "refactor": "\N{LARGE PURPLE CIRCLE}",
        "discovery": "\N{LARGE BROWN CIRCLE}",
        "change": "\N{MEDIUM WHITE CIRCLE}",
    }
)
"""One sign for each type, for lists that are skimmed."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something outside that the observation is about; ``action`` is what was done to it."""

    type: ArtifactType
    path: str
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something is known from: the kind of source, which one, the turn or step in it, from 1
    (of an agent the number of the message that began the turn), and the ``state`` of a run by its
    path, the task of a session by its id, or what claude-mem kept of it by its id."""

    source_type: str
    source_id: str
    turn: int | None = None
    state: str | None = None

    @property
    def citation(self) -> Citation:
        """The address of that place. Raises InvalidCitation for an id that no address can have."""
        match self.source_type:
            case "run" if self.state is not None:
                return Citation("run", self.source_id, "state", self.state)
            case "session" if self.state is not None:
                return Citation("session", self.source_id, "task", self.state)
            case "session" if self.turn is not None:
                return Citation("session", self.source_id, "turn", number=self.turn)
            case "agent" if self.turn is not None:
                return Citation("agent", self.source_id, "message", str(self.turn))
            case "attempt" if self.turn is not None:
                return Citation("attempt", self.source_id, "step", number=self.turn)
            case "run" | "attempt" | "session":
                return Citation(self.source_type, self.source_id)
            case "beads_issue" if self.turn is None:
                return Citation("issue", self.source_id)
            case _ if self.turn is not None:
                return Citation("thread", self.source_id, "turn", number=self.turn)
            case _:
                return Citation("thread", self.source_id)


@dataclass(frozen=True, slots=True)
class NewObservation:
    """What is to be remembered, of a ``workflow`` where it is of one. ``related`` are the URIs of
    other observations; ``at`` is when it happened, in ms since the epoch, UTC (None: now). ``note``
    is what this source alone said of it: people may read it, no context ever has it. It is
    ``extracted`` where a model found it in a text; all others DCF itself or a person made."""

    type: ObservationType
    title: str
    origin: Origin
    project: str = ""
    workflow: str = ""
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    narrative: str = ""
    concepts: tuple[Concept, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    related: tuple[str, ...] = ()
    agent_id: str | None = None
    at: int | None = None
    note: str = ""
    extracted: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """An observation as it is kept. ``tokens`` is what all of it costs a model to read. ``origin``
    is where it was seen first, ``times`` how many sources said it, ``at`` when it happened last.
    What is ``pinned`` is told before others, however old it is; ``used`` is by how many turns of
    agents it was cited; ``extracted`` as in NewObservation. Times are ms since the epoch, UTC."""

    id: str
    project: str
    workflow: str
    type: ObservationType
    title: str
    subtitle: str
    facts: tuple[str, ...]
    narrative: str
    concepts: tuple[Concept, ...]
    artifacts: tuple[Artifact, ...]
    related: tuple[str, ...]
    origin: Origin
    agent_id: str | None
    tokens: int
    times: int
    at: int
    revision: int
    created_at: int
    updated_at: int
    pinned: bool = False
    used: int = 0
    extracted: bool = False

    @property
    def citation(self) -> Citation:
        """Its address."""
        return Citation("observation", self.id)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that something happened which is kept once: where, when, and what that source alone
    said of it."""

    origin: Origin
    note: str
    at: int


@dataclass(frozen=True, slots=True)
class ObservationRecord:
    """An observation with each time that it was seen, the oldest first; none for one that was
    added as it is."""

    observation: Observation
    seen: tuple[Occurrence, ...]


@dataclass(frozen=True, slots=True)
class ArrivingObservation:
    """An observation that another memory or program has kept, with each time that it was seen
    there: none for one that was added as it is. ``id``, which may be empty, is what it was called
    there, where it was ``pinned`` or not. ``follows``: the state of its origin names it alone, so
    what has that origin already is an earlier version of it, and says of which project it is;
    unless this one ``moves``: then one of another project is no earlier version."""

    new: NewObservation
    seen: tuple[Occurrence, ...] = ()
    id: str = ""
    pinned: bool = False
    follows: bool = False
    moves: bool = False


@dataclass(frozen=True, slots=True)
class TakenIn:
    """How many observations are new, were there and are known from more sources now, were there
    with all of their sources, or were there in other words."""

    new: int = 0
    seen_again: int = 0
    known: int = 0
    changed: int = 0
