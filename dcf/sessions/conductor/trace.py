"""What the run of a task that is over left behind: what it called, and what it put out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from control_plane import JSON, CorruptHistory, history
from dcf.secret_form import without_secrets
from dcf.sessions.conductor.traits import Traits
from dcf.sessions.passing import result_of
from dcf.sessions.sessions import Sessions
from dcf.sessions.task import DONE, SessionTask
from dcf.skills import SkillError

_DEPTH = 4
_VALUES = 6
_LONGEST_VALUE = 60
_UNKNOWN = "something (its history cannot be read)"


@dataclass(frozen=True, slots=True)
class Trace:
    """``effects`` are the tools whose calls may have changed something, each with how often it was
    called; ``awaited`` is the tool of which somebody was asked and did not answer; ``data`` is the
    beginning of what was put out, in words."""

    effects: tuple[str, ...] = ()
    awaited: str | None = None
    data: str | None = None


async def read_trace(sessions: Sessions, task: SessionTask) -> Trace:
    """The trace of a task that is over. Calls stand in the history before they are made, so that
    none is missed, however its companion ended."""
    if task.is_namesake:
        return Trace()
    if task.status in DONE:
        return Trace(data=in_words(await result_of(sessions.store, task.task_id)))
    calls: Counter[str] = Counter()
    awaited = None
    is_told = False
    try:
        async for one in history.read(sessions.store, task.task_id):
            event = one.event
            if event.get("type") != "ToolDecision":
                continue
            is_told = True
            awaited = event["tool"] if event["verdict"] == "ask" else None
            if event["verdict"] == "allow" and not await _is_repeatable(sessions, event):
                calls[event["tool"]] += 1
    except CorruptHistory:
        return Trace(effects=(_UNKNOWN,))
    made = (task.metrics or {}).get("tool_calls", 0)
    if not is_told and isinstance(made, int) and made > 0:
        # Somebody from outside says so, who called what the platform does not see.
        calls["tools of its own"] = made
    effects = (f"{tool} ({count} times)" if count > 1 else tool for tool, count in calls.items())
    return Trace(tuple(effects), awaited)


async def _is_repeatable(sessions: Sessions, event: Mapping[str, JSON]) -> bool:
    """Whether a call may be made again: nothing can go wrong with its skills, and their authors say
    that it does nothing more."""
    skills = event.get("skills") or []
    if event.get("risk") != "low" or not isinstance(skills, list) or not skills:
        return False
    for skill in skills:
        try:
            manifest = await sessions.skill(str(skill))
        except SkillError:
            return False
        if manifest is None or event["tool"] not in Traits.of(manifest).repeatable:
            return False
    return True


def in_words(value: JSON) -> str | None:
    """The plain values at the beginning of ``value``, with their names: ``status: lost, days: 12``.
    None where there are none."""
    found: list[str] = []
    for name, one in _plain(value, "", _DEPTH):
        if len(found) == _VALUES:
            found.append("…")
            break
        text = one if isinstance(one, str) else json.dumps(one)
        text = " ".join(text.split())
        text = text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
        found.append(f"{name}: {text}" if name else text)
    return without_secrets(", ".join(found), "[redacted]") or None


def _plain(value: JSON, name: str, depth: int) -> Iterator[tuple[str, JSON]]:
    """Plain values with their names, those of an object before what stands in its members."""
    if not isinstance(value, (dict, list)):
        if value not in (None, ""):
            yield name, value
        return
    if isinstance(value, list):
        plain = [one for one in value if isinstance(one, (str, int, float))]
        if plain and len(plain) == len(value):
            yield name, " ".join(map(str, plain))
        elif value:
            yield name, f"{len(value)} entries"
        return
    if depth == 0:
        return
    members = sorted(value.items(), key=lambda one: isinstance(one[1], (dict, list)))
    for member, one in members:
        yield from _plain(one, member, depth - 1)
