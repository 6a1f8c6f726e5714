"""The answer of a model, read into observations."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcf.memory.extraction.elements import EDGES, HOLDERS, TEXTS, Token, tokens
from dcf.memory.extraction.prompt import SourceEvent
from dcf.memory.extraction.trimming import trimmed
from dcf.memory.observation import (
    ACTIONS,
    ARTIFACT_TYPES,
    CONCEPTS,
    TYPES,
    Action,
    Artifact,
    ArtifactType,
    NewObservation,
)
from dcf.problem import Problem

LONGEST = 1_048_576
"""Characters of an answer that are read."""
MOST = 20
"""Observations of an answer that are taken: models are asked for three at most."""

_ONCE = ("type", "title", "subtitle", "narrative")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an answer said, and what was wrong with it: either may be empty."""

    observations: tuple[NewObservation, ...]
    problems: tuple[Problem, ...]


def parse_observations(text: str, call: str, event: SourceEvent) -> Parsed:
    """The observations in the answer to the prompt about ``event`` with the number ``call``.

    Only what stands in ``<observations call="…">`` counts, and where one ``<observation>`` in it
    carries the number, only those that do: what was quoted out of a recording carries none. Markup
    around it, forgotten closing tags and stray ``<`` are put up with; an observation that breaks
    off with the answer is left out. Never raises for what ``text`` is.
    """
    reading = _Reading(call, event)
    if len(text) > LONGEST:
        reading.report("too-long", f"only the first {LONGEST} characters were read")
    reading.read(tokens(text[:LONGEST]))
    if not reading.found:
        hint = "nothing was taken over; ask again"
        reading.report("unnamed", "no <observations> element has the number of this call", hint)
    return Parsed(tuple(reading.made), tuple(reading.problems))


@dataclass(slots=True)
class _Reading:
    """Where in the answer the reader is."""

    call: str
    event: SourceEvent
    made: list[NewObservation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    found: bool = False
    inside: bool = False
    marked: bool = False
    """Whether observations have to carry the number."""
    quoted: int = 0
    """How many quoted observations are open."""
    fields: list[tuple[str, str, Token, list[str]]] | None = None
    """Of the open observation: (element, holder, tag, texts)."""
    open: bool = False
    """Whether the last of ``fields`` is not closed yet."""
    holder: str = ""

    def read(self, found: list[Token]) -> None:
        closed = _closed_later(found)
        self.marked = any(
            one.name == "observation" and not one.closes and self._ours(one) for one in found
        )
        for number, token in enumerate(found):
            if token.name == "observations":
                self._root(token)
            elif not self.inside:
                continue
            elif token.name == "observation":
                self._edge(token)
            elif self.fields is not None and not self.quoted:
                self._part(token, closed[number] if self.open else False)
        if self.fields is not None:
            self.report("cut", "the last observation has no end, and was left out")

    def _ours(self, token: Token) -> bool:
        return token.attribute("call") == self.call

    def _root(self, token: Token) -> None:
        if not token.closes and self._ours(token):
            self.found = True
            self.inside = not token.empty
        elif token.closes and self.inside and not self.quoted:
            self._finish()
            self.inside = False

    def _edge(self, token: Token) -> None:
        mine = self._ours(token) if self.marked or token.attribute("call") else not self.open
        if token.empty:
            return
        if not token.closes and mine:
            self._finish()
            self.quoted, self.fields, self.open, self.holder = 0, [], False, ""
        elif not token.closes:
            if not self.quoted:
                self.report("quoted", "an observation without the number of this call was passed")
            self.quoted += 1
        elif self.quoted:
            self.quoted -= 1
        else:
            self._finish()

    def _part(self, token: Token, is_text: bool) -> None:
        """A token within an observation. ``is_text``: the open field is closed properly later on,
        so that this tag stands in its text."""
        assert self.fields is not None
        if self.open and token.closes and token.name == self.fields[-1][0]:
            self.open = False
        elif self.open and (not token.name or is_text):
            self.fields[-1][3].append(token.text)
        elif token.name in HOLDERS:
            self.open, self.holder = False, "" if token.closes else token.name
        elif token.name in TEXTS and not token.closes:
            self.fields.append((token.name, self.holder, token, []))
            self.open = not token.empty

    def _finish(self) -> None:
        fields, self.fields, self.open = self.fields, None, False
        if fields is None:
            return
        if len(self.made) >= MOST:
            self.report("too-many", f"only the first {MOST} observations were taken")
            return
        said = [(name, at, tag, "".join(texts)) for name, at, tag, texts in fields]
        one = self._observation(said)
        if one.title:
            self.made.append(one)
        else:
            self.report("untitled", "an observation without a title was left out")

    def _observation(self, fields: list[tuple[str, str, Token, str]]) -> NewObservation:
        once: dict[str, str] = {}
        for name, _, _, text in fields:
            if name in _ONCE:
                once.setdefault(name, text)
        named = _plain(once.get("type", ""))
        type_ = next((one for one in TYPES if one == named), None)
        if type_ is None:
            hint = f"use one of: {', '.join(TYPES)}"
            self.report("unknown-type", f"{named!r} is no type; it was taken as 'change'", hint)
        said = [_plain(text) for name, _, _, text in fields if name == "concept"]
        for one in said:
            if one not in CONCEPTS:
                self.report("unknown-concept", f"{one!r} is no concept, and was left out")
        made = NewObservation(
            type=type_ or "change",
            title=once.get("title", ""),
            origin=self.event.origin,
            project=self.event.project,
            subtitle=once.get("subtitle", ""),
            facts=tuple(text for name, _, _, text in fields if name == "fact"),
            narrative=once.get("narrative", ""),
            concepts=tuple(one for one in CONCEPTS if one in said),
            artifacts=tuple(
                _artifact(at, tag, text)
                for name, at, tag, text in fields
                if name in ("file", "artifact")
            ),
            at=self.event.at,
        )
        return trimmed(made)

    def report(self, code: str, message: str, hint: str = "") -> None:
        problem = Problem(f"answer-{code}", message, hint=hint, severity="warning")
        # A hostile answer may hold a hundred thousand of them.
        if problem not in self.problems and len(self.problems) < 2 * MOST:
            self.problems.append(problem)


def _plain(text: str) -> str:
    return text.strip().lower()[:100]


def _artifact(holder: str, tag: Token, text: str) -> Artifact:
    kind = tag.attribute("type")
    type_: ArtifactType = next((one for one in ARTIFACT_TYPES if one == kind), "file")
    said = tag.attribute("action")
    action: Action | None = next((one for one in ACTIONS if one == said), None)
    if action is None and holder in ("files_modified", "files_read"):
        action = "modified" if holder == "files_modified" else "read"
    return Artifact(type_, text.strip() or tag.attribute("path"), action)


def _closed_later(found: list[Token]) -> list[bool]:
    """For each tag: whether the text element that is open there has its closing tag before another
    of its name opens, and before the observation ends. One pass from the end."""
    answers = [False] * len(found)
    opened: str = ""
    ends: dict[str, bool] = {}
    later: list[dict[str, bool]] = [{}] * len(found)
    for number in range(len(found) - 1, -1, -1):
        token = found[number]
        if token.name in EDGES:
            ends = {}
        elif token.name in TEXTS:
            ends = {**ends, token.name: token.closes}
        later[number] = ends
    for number, token in enumerate(found):
        if token.name in EDGES:
            opened = ""
        answers[number] = bool(opened) and later[number].get(opened, False)
        if token.name in TEXTS and not answers[number]:
            opened = "" if token.closes or token.empty else token.name
        elif token.closes and token.name == opened:
            opened = ""
    return answers
