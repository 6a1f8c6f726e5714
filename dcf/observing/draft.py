"""What an observation says: one thing that happened while people or agents worked, told three times
in growing detail (title, subtitle, facts and narrative)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from dcf.observing.cleaning import cleaned, one_line

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

TITLE_WORDS, TITLE_CHARS = 12, 80
SUBTITLE_WORDS, SUBTITLE_CHARS = 24, 240
FACTS, FACT_CHARS = 20, 500
NARRATIVE_CHARS = 4_000
ARTIFACTS, PATH_CHARS = 50, 1_000


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something outside that the observation is about; ``action`` is what was done to it."""

    type: ArtifactType
    path: str
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation that nobody stored yet. ``drafted`` makes one that keeps every limit."""

    type: ObservationType
    title: str
    subtitle: str = ""
    facts: tuple[str, ...] = ()
    narrative: str = ""
    concepts: tuple[Concept, ...] = ()
    artifacts: tuple[Artifact, ...] = ()


def drafted(
    type_: ObservationType,
    title: str,
    *,
    subtitle: str = "",
    facts: Iterable[str] = (),
    narrative: str = "",
    concepts: Iterable[Concept] = (),
    artifacts: Iterable[Artifact] = (),
) -> Draft:
    """A draft of texts of any length and origin: secrets and control characters are taken out, what
    is too long is cut, and what says the same twice is left out."""
    lines = (cut(one_line(fact), FACT_CHARS) for fact in facts)
    places = (Artifact(one.type, one_line(one.path)[:PATH_CHARS], one.action) for one in artifacts)
    return Draft(
        type=type_,
        title=cut(one_line(title), TITLE_CHARS, TITLE_WORDS),
        subtitle=cut(one_line(subtitle), SUBTITLE_CHARS, SUBTITLE_WORDS),
        facts=tuple(dict.fromkeys(line for line in lines if line))[:FACTS],
        narrative=cut(cleaned(narrative), NARRATIVE_CHARS),
        concepts=tuple(dict.fromkeys(concepts)),
        artifacts=tuple(dict.fromkeys(one for one in places if one.path))[:ARTIFACTS],
    )


def cut(text: str, chars: int, words: int | None = None) -> str:
    """The beginning of ``text`` within both limits; an ellipsis says that there was more.

    >>> cut("one two three", 80, 2)
    'one two…'
    """
    short = text
    parts = text.split() if words is not None else []
    if words is not None and len(parts) > words:
        short = " ".join(parts[:words])
    if len(short) > chars or (short != text and len(short) == chars):
        whole, _, rest = short[: chars - 1].rpartition(" ")
        # A last word is left out rather than torn, if not much is lost by that.
        short = whole if whole and len(rest) < chars // 2 else short[: chars - 1]
    return short if short == text else f"{short.rstrip(' ,;:')}…"
