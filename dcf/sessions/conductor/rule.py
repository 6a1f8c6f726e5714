"""One rule of a conductor, and whether it applies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

import regex

from dcf.schema import PatternTooSlow, compile_regex
from dcf.sessions.conductor.trace import Trace

About = Literal["message", "line", "task", "failure"]

ACTIONS: Mapping[About, frozenset[str]] = {
    "message": frozenset(
        {"status", "help", "cancel", "retry", "drop", "accept", "talk", "lines", "task"}
    ),
    "line": frozenset({"task", "ignore"}),
    "task": frozenset(),
    "failure": frozenset({"retry", "escalate", "ask", "give_up"}),
}
"""What a rule about each of them can say with ``do``."""

_AGAIN = frozenset({"retry", "escalate"})
_SEARCH_S = 0.1


@dataclass(frozen=True, slots=True)
class When:
    """What must hold besides the pattern; None, or empty, asks for nothing. ``codes`` and
    ``skills`` are globs; ``same_error`` is how often this error came for the task, ``tries`` how
    often it was given away."""

    question: bool | None = None
    kind: str | None = None
    codes: tuple[str, ...] = ()
    same_error: int = 0
    tries: int = 0
    after_effects: bool | None = None
    unanswered: bool | None = None
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """See ``rules.yaml``. ``pattern`` is compiled, and ``source`` what was written."""

    name: str
    about: About
    priority: int = 0
    source: str | None = None
    pattern: Any = field(default=None, compare=False, repr=False)
    when: When = When()
    do: str = ""
    say: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    stop: bool = False

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Rule:
        """A rule that was checked. Raises ``regex.error`` for a bad pattern."""
        source = raw.get("pattern")
        when = raw.get("when", {})
        lists = {name: tuple(when[name]) for name in ("codes", "skills") if name in when}
        return cls(
            name=raw["name"],
            about=raw["about"],
            priority=raw.get("priority", 0),
            source=source,
            pattern=None if source is None else compiled(source),
            when=When(**{**when, **lists}),
            do=raw.get("do", ""),
            say=raw.get("say", ""),
            set=dict(raw.get("set", {})),
            stop=raw.get("stop", False),
        )

    def fits(self, text: str) -> Mapping[str, str] | None:
        """What the groups of the pattern found, if all of ``text`` fits it; else None. Raises
        PatternTooSlow."""
        found = self._find("fullmatch", text)
        return None if found is None else _groups(found)

    def occurs(self, text: str) -> bool:
        """Whether the pattern is found in ``text``; so it is where there is none. Raises
        PatternTooSlow."""
        return self.pattern is None or self._find("search", text) is not None

    def fits_failure(self, kind: str, errors: Sequence[str], tries: int, trace: Trace) -> bool:
        """Whether it is about a task of this ``kind`` that failed with the last of ``errors``, and
        left this ``trace``. One that gives it away again is not about a task that may have changed
        something, unless it says so."""
        when, code = self.when, errors[-1]
        after_effects = when.after_effects
        if after_effects is None and self.do in _AGAIN:
            after_effects = False
        return (
            when.kind in (None, kind)
            and after_effects in (None, bool(trace.effects))
            and when.unanswered in (None, trace.awaited is not None)
            and (not when.codes or any(fnmatchcase(code, one) for one in when.codes))
            and errors.count(code) >= when.same_error
            and tries >= when.tries
        )

    def fits_skills(self, skills: Iterable[str]) -> bool:
        """Whether it is about tasks with one of these skills."""
        wanted = self.when.skills
        return not wanted or any(fnmatchcase(one, glob) for one in skills for glob in wanted)

    def _find(self, how: Literal["fullmatch", "search"], text: str) -> Any:
        if self.pattern is None:
            return None
        try:
            return getattr(self.pattern, how)(text, timeout=_SEARCH_S)
        except TimeoutError:
            raise PatternTooSlow(self.source or "") from None


def compiled(pattern: str) -> Any:
    """The pattern, whatever the case. Raises ``regex.error``."""
    return compile_regex(pattern, regex.IGNORECASE | regex.VERSION0)


def _groups(found: Any) -> dict[str, str]:
    return {name: text.strip() for name, text in found.groupdict().items() if text}
