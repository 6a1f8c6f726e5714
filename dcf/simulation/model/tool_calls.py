"""Calls about the tool calls of a lease: each is noted before it is made, and settled after.

A call has a number in its try, which its idempotency key is made of. Whoever takes over makes the
same calls under the same numbers, and pays for none of them again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dcf.simulation.model.budgets import passed, refusal, too_long, worked
from dcf.simulation.model.control import Control, copied, put, sha1
from dcf.simulation.model.leases import held
from dcf.simulation.model.scratch import Scratch

Reply = list[Any]
_OVER = ("whose", "what", "used", "limit")


class _Called:
    """What a try has called by now, as the document of its state keeps it.

    ``numbers`` are those that each digest was given; ``used`` is the number that the answer to a
    question let pass. ``lease`` is of this lease alone: how often each digest was ``seen`` and
    ``recalled``, the calls by their ``ids``, and until when they may be ``open`` (ms).
    """

    def __init__(self, now: Scratch, ctl: Control) -> None:
        kept: dict[str, Any] = {}
        if "made" in ctl:
            kept = copied(now.peek(now.keys.state(now.request["path"]))["calls"])
        self._now, self._ctl = now, ctl
        self.numbers: dict[str, list[int]] = kept.get("numbers", {})
        self.used: dict[str, int] = kept.get("used", {})
        self.lease: dict[str, Any] = {"seen": {}, "recalled": {}, "ids": {}, "open": {}}
        if ctl.get("made") == ctl["fence"]:
            self.lease = kept["lease"]

    def keep(self) -> None:
        """Write it, and the control record with it."""
        self._ctl["made"] = self._ctl["fence"]
        now, path = self._now, self._now.request["path"]
        document = now.get(now.keys.state(path))
        calls = {"numbers": self.numbers, "used": self.used, "lease": self.lease}
        now.set(now.keys.state(path), document | {"ctl": copied(self._ctl), "calls": calls})

    def is_open(self, number: str) -> bool:
        """Whether somebody may be making the call with this number right now."""
        return bool(self.lease["open"].get(f"n{number}", 0) > self._now.now)

    @property
    def open_calls(self) -> int:
        """How many are being made."""
        return sum(until > self._now.now for until in self.lease["open"].values())

    def repeated(self, digest: str, known: Sequence[int]) -> int | None:
        """The number of the call that the next one with ``digest`` repeats, None for a new one;
        those ``known`` are answered without being made."""
        left = [number for number in self.numbers.get(digest, ()) if number not in known]
        seen: int = self.lease["seen"].get(digest, 0)
        return left[seen] if seen < len(left) else None


def note(now: Scratch) -> Reply:
    """A decision goes on record. One that lets a call be made gives it its number."""
    ctl, why = held(now)
    if why:
        return [why]
    noted = ctl.get("noted", {})
    if noted.get("call") == now.request["call"]:
        if "what" in noted:
            return ["over_budget", *(noted[name] for name in _OVER)]
        return ["ok", noted["run"], noted["try"], noted.get("number", "")]
    called = _Called(now, ctl)
    same = called.lease["ids"].get(_name_of(now)) if "digest" in now.request else None
    return (
        _known(now, called, same) or _hindered(now, called) or _Note(now, ctl, called, same).take()
    )


def _name_of(now: Scratch) -> str:
    """What the caller calls it; without a name of its own, each call is one."""
    request = now.request
    return _named("i", request["id"]) if "id" in request else _named("c", request["call"])


def _digest(now: Scratch) -> str:
    return _named("d", now.request["digest"])


def _named(kind: str, text: str) -> str:
    return kind + sha1(text)


def _known(now: Scratch, called: _Called, same: dict[str, str] | None) -> Reply | None:
    """The answer where a call of this name was noted or recalled before; None if it may be made
    again, since nobody is making it and it has no answer."""
    if same is None:
        return None
    if same.get("call") == now.request["call"]:
        return ["ok", same["run"], same["try"], same["number"]]
    if same["digest"] != _digest(now):
        return ["other_call"]
    if called.is_open(same["number"]) or same["number"] in _answers(now):
        return ["call_open", same["number"]]
    return None


def _hindered(now: Scratch, called: _Called) -> Reply | None:
    """Why nothing can be noted just now."""
    request, chain = now.request, now.peek(now.keys.chain) or {}
    if int(chain.get("events", 0)) >= request["events_limit"]:
        return ["limit_exceeded", "events"]
    # A question is put with the answers of all calls, so none is open then, and none begins.
    if "asks" in request:
        return ["calls_open", called.open_calls] if called.open_calls else None
    asking = called.lease.get("asking", 0) > now.now
    return ["calls_open", 0] if "digest" in request and asking else None


class _Note:
    """A decision that may go on record; ``same`` is what is known of a call of the same name."""

    def __init__(
        self, now: Scratch, ctl: Control, called: _Called, same: dict[str, str] | None
    ) -> None:
        self.now, self.ctl, self.called, self.same = now, ctl, called, same
        self.request = now.request
        self.number: int | None = None
        self.fresh = False
        self.question = ""
        self.made = {"try": ctl.get("calls", 0)}
        self.made["run"] = int((now.peek(now.keys.chain) or {}).get("tool_calls", 0))

    def take(self) -> Reply:
        if "digest" in self.request and (no := self._count() or self._allow() or self._afford()):
            return no
        told = json.loads(self.now.text(2))
        if self.number is not None:
            told["call"] = self.number
        self.now.record(told)
        if self.number is not None and self.fresh:
            self._charge(self.number)
        counts = {whose: str(made) for whose, made in self.made.items()}
        number = "" if self.number is None else str(self.number)
        self.ctl["noted"] = {"call": self.request["call"], **counts}
        put(self.ctl["noted"], {"number": number or None})
        if self.number is not None:
            self._remember(self.number, counts)
        if "asks" in self.request:
            self.called.lease["asking"] = self.now.now + self.request["asks"]
        if "asks" in self.request or self.number is not None:
            self.called.keep()
        else:
            self.now.note_control(self.request["path"], self.ctl)
        return ["ok", counts["run"], counts["try"], number]

    def _count(self) -> Reply | None:
        """Its number; why it gets none."""
        if self.same is not None:
            self.number = int(self.same["number"])
        else:
            self.number = self.called.repeated(_digest(self.now), self.request.get("known", ()))
        if self.number is not None:
            return None
        self.number, self.fresh = self.made["try"], True
        full = self.number >= self.request["calls_limit"]
        return ["limit_exceeded", "calls"] if full else None

    def _allow(self) -> Reply | None:
        """The answer to a question lets one number pass, however often that is made."""
        used = self.called.used
        if "grant" not in self.request or self.number in used.values():
            return None
        self.question = f"q{self.request['grant']}"
        return ["grant_used", str(used[self.question])] if self.question in used else None

    def _afford(self) -> Reply | None:
        """What repeats a call costs none; time passes for both."""
        spans = {"try": lambda: worked(self.now, self.ctl), "run": lambda: passed(self.now)}
        for whose, made in self.made.items():
            limits = self.request.get("budget", {}).get(whose, {})
            broken = too_long(limits, spans[whose])
            if self.fresh and made >= limits.get("tool_calls", made + 1):
                broken = "tool_calls", str(made), str(limits["tool_calls"])
            if broken is not None:
                self.now.record(json.loads(self.now.text(3)) | refusal(whose, broken))
                words = dict(zip(_OVER, (whose, *broken), strict=True))
                self.ctl["noted"] = {"call": self.request["call"], **words}
                self.now.note_control(self.request["path"], self.ctl)
                return ["over_budget", whose, *broken]
        return None

    def _charge(self, number: int) -> None:
        self.made = {whose: made + 1 for whose, made in self.made.items()}
        self.ctl["calls"] = self.made["try"]
        self.now.add(self.now.keys.chain, {"tool_calls": str(self.made["run"])})
        self.called.numbers.setdefault(_digest(self.now), []).append(number)

    def _remember(self, number: int, counts: dict[str, str]) -> None:
        lease, digest = self.called.lease, _digest(self.now)
        if self.same is None:
            lease["seen"][digest] = lease["seen"].get(digest, 0) + 1
        which = {"digest": digest, "number": str(number), "call": self.request["call"]}
        lease["ids"][_name_of(self.now)] = which | counts
        if self.question:
            self.called.used[self.question] = number
        if "open" in self.request:
            lease["open"][f"n{number}"] = self.now.now + self.request["open"]


def recall(now: Scratch) -> Reply:
    """Which call answers this one, which is about to be made: one of the same name, or one of the
    journal, each of which is given once under a lease."""
    ctl, why = held(now)
    if why:
        return [why]
    called, digest = _Called(now, ctl), _digest(now)
    same = called.lease["ids"].get(_name_of(now))
    if same is not None:
        if same["digest"] != digest:
            return ["other_call"]
        return ["call_open" if called.is_open(same["number"]) else "ok", same["number"]]
    given = called.lease["recalled"].get(digest, 0)
    if given >= len(now.request["known"]):
        return ["new"]
    number = str(now.request["known"][given])
    called.lease["recalled"][digest] = given + 1
    called.lease["ids"][_name_of(now)] = {"digest": digest, "number": number}
    called.keep()
    return ["ok", number]


def settle(now: Scratch) -> Reply:
    """The call is over; what the tool answered is kept for a while, for this lease alone."""
    request = now.request
    ctl, why = held(now)
    if why:
        return [why]
    number = str(request["number"])
    if ctl.get("made") == ctl["fence"]:
        called = _Called(now, ctl)
        called.lease["open"].pop(f"n{number}", None)
        called.keep()
    if now.text(2):
        kept = {"fence": str(request["fence"]), **_answers(now), number: now.text(2)}
        now.set(now.keys.calls(request["path"]), kept | {"until": now.now + request["keep"]})
    return ["ok"]


def _answers(now: Scratch) -> dict[str, Any]:
    """What is kept of this lease, by number."""
    kept = now.get(now.keys.calls(now.request["path"])) or {}
    # What was put back with its run goes with it.
    lasts = kept.get("until") is None or kept["until"] >= now.now
    return kept if lasts and kept.get("fence") == str(now.request["fence"]) else {}
