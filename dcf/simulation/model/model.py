"""The model: what each call of the control plane must answer and leave behind, in plain Python.

It is written from the protocol, over the same keys. Each call is held against it as it happens: its
answer, each key that it wrote or should have written, its history and its hints.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from control_plane import DONE, INDEX, RunKeys, run_lists
from control_plane import keys as redis_keys
from control_plane.twin import WRITES, Twin
from dcf.simulation.model import budgets, commits, leases, removals, runs, sweeps, tool_calls
from dcf.simulation.model.control import is_json, sha1
from dcf.simulation.model.outside import RULES, Outside
from dcf.simulation.model.scratch import Scratch
from dcf.simulation.order import EPOCH_S
from dcf.simulation.server import Call
from dcf.simulation.violation import Violation
from dcf.simulation.virtual_loop import at_once

_RULES: dict[str, Callable[[Scratch], list[Any]]] = {
    "acquire": leases.acquire,
    "renew": leases.renew,
    "release": leases.release,
    "beat": leases.beat,
    "signal": leases.signal,
    "commit": commits.commit,
    "seed": runs.seed,
    "cancel": runs.cancel,
    "finalize": runs.finalize,
    "told": runs.told,
    "gc": removals.gc,
    "condemn": removals.condemn,
    "restore": removals.restore,
    "close": runs.close,
    "redrive": runs.redrive,
    "tick": sweeps.tick,
    "move": sweeps.move,
    "reserve": budgets.reserve,
    "bill": budgets.bill,
    "note": tool_calls.note,
    "recall": tool_calls.recall,
    "settle": tool_calls.settle,
    "blob": runs.store_blob,
}
_MODELLED = re.compile(
    r"cp:wf:[^:]+:(meta|state:.*|chain|due|paths|blobs|stage.*)"
    r"|dp:wf:[^:]+:(output:.*|calls:.*|blob:.*|audit:finalize)"
    rf"|cp:{{outbox}}:.*|{re.escape(INDEX)}|{re.escape(DONE)}"
    rf"|cp:\{{runs\}}:({'|'.join(run_lists.STATUSES)})",
    re.DOTALL,
)
_JSON = "ReJSON-RL"
# Of these it is known whether they are there.
_OTHERS = re.compile(r"cp:wf:[^:]+:(history|agents)")


class Model:
    """Holds calls against the rules; silent after the first violation, which leads to others."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self._known: dict[str, Any] = {}
        self._outside = Outside(twin, self._known)
        self._broken = False

    def check(self, call: Call) -> Iterator[Violation]:
        """What is wrong with ``call``, which has just taken effect."""
        if self._broken:
            return
        run = call.request.get("run", "")
        try:
            seen = self._compare(call)
        except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
            seen = f"the model cannot follow {call}: {error!r}"
        if seen:
            self._broken = True
            yield Violation("protocol", run, seen)

    def snapshot(self) -> dict[str, Any]:
        """All that is known of the server."""
        return copy.deepcopy(self._known)

    def restore(self, known: dict[str, Any]) -> None:
        """The server lost what came after ``known``."""
        self._known.clear()
        self._known |= known

    def follow(self, name: str, args: Sequence[str]) -> None:
        """A client wrote without a script."""
        self._outside.follow(name, args)

    def damaged(self, key: str) -> None:
        """A strange hand wrote to ``key``."""
        self._known[key] = self._strange(key)

    def excuses(self, call: Call) -> bool:
        """Whether ``call`` may have failed: what it met was damaged. What it did is taken over."""
        if excused := call.script != "condemn" and self._meets_damage(call):
            self._take_over(self._touched())
        return excused

    def frees(self, call: Call) -> bool:
        """Whether ``call`` goes on with a removal, which needs no memory."""
        scratch = Scratch(self._known, call, 0)
        return call.script == "gc" and removals.goes_on(scratch.load_run())

    def _meets_damage(self, call: Call) -> bool:
        """Whether it was asked to read what a strange hand left; `enlist` reads several runs."""
        runs = [Scratch(self._known, call, 0).keys]
        if call.script == "enlist":
            entries = call.request["runs"]
            # In a cluster the document was read before, and may be gone.
            if any(isinstance(made, str) for entry in entries for made in entry[2:]):
                return True
            runs = [RunKeys(entry[0]) for entry in entries]
        met = (self._known.get(key) for run in runs for key in (run.meta, run.paths, run.blobs))
        return any(isinstance(value, removals.Damaged) for value in met)

    def _strange(self, key: str) -> removals.Damaged | None:
        kind = at_once(self._twin.command("TYPE", key))
        if kind == "none":
            return None
        text = at_once(self._twin.command("JSON.GET", key)) if kind == _JSON else ""
        return removals.Damaged(kind, sha1(text) if kind == _JSON else "")

    def _touched(self) -> set[str]:
        """The keys that the last script may have written."""
        commands = [one for one in self._twin.last_commands if one[0] in WRITES]
        return {key for name, args in commands for key in _keys_of(name, args)}

    def _take_over(self, touched: Iterable[str]) -> None:
        """Believe what a call did that no rule speaks of."""
        for key in touched:
            if isinstance(self._known.get(key), removals.Damaged):
                self.damaged(key)
            elif _MODELLED.fullmatch(key) or _OTHERS.fullmatch(key):
                self._known[key] = self._value(key)

    def _compare(self, call: Call) -> str:
        """The first difference, in words; "" for none."""
        commands = [one for one in self._twin.last_commands if one[0] in WRITES]
        now = int((EPOCH_S + call.at) * 1_000_000) // 1000
        touched = self._touched()
        if call.script in RULES:
            return self._outside.compare(call, now, touched)
        written = {key for key in touched if _MODELLED.fullmatch(key)}
        others = {key for key in touched if _OTHERS.fullmatch(key)}
        if call.earlier:
            # Of what an earlier version does nothing is said but that the present one goes on.
            self._take_over(touched)
            return ""
        if call.script != "condemn" and self._meets_damage(call):
            self._take_over(touched)
            return ""
        if call.reply[0] == "bad_document":
            if call.script == "restore" and not all(map(is_json, call.texts)):
                return self._follow_refused_restore(call, now)
            changed = [key for key in sorted(written) if self._value(key) != self._known.get(key)]
            refused = any(not is_json(text) for text in call.texts if text)
            return "" if refused and not changed else f"{call}: refused, and wrote {changed}"
        rule = _RULES.get(call.script)
        if rule is None:
            return self._follow(call, written)
        scratch = Scratch(self._known, call, now)
        answer = [*rule(scratch), scratch.ending()]
        got = _answered(call)
        if got != answer:
            return f"{call}: it answered {got}, by the protocol {answer}"
        # What is put back is no news.
        if call.script != "restore" and (seen := self._compare_history(scratch, commands)):
            return f"{call}: {seen}"
        if seen := _compare_hints(scratch, commands):
            return f"{call}: {seen}"
        for key in sorted(written | scratch.changed.keys()):
            value, wanted = self._value(key), scratch.peek(key)
            if value != wanted:
                return f"{call}: {key} is {_shown(value, wanted)}"
        self._known |= scratch.changed
        self._known |= {key: self._value(key) for key in others - scratch.changed.keys()}
        return ""

    def _follow_refused_restore(self, call: Call, now: int) -> str:
        """Who gets this answer removes what is there by now: it is believed, but for the run's
        document, by which everybody else knows."""
        scratch = Scratch(self._known, call, now)
        removals.refused_restore(scratch)
        self._take_over(self._touched())
        value, wanted = self._value(scratch.keys.meta), scratch.peek(scratch.keys.meta)
        if value == wanted:
            return ""
        return f"{call}: {scratch.keys.meta} is {_shown(value, wanted)}"

    def _compare_history(self, scratch: Scratch, commands: Sequence[Any]) -> str:
        """Its events, and the chain that covers them."""
        told = [args for name, args in commands if name == "XADD" and args[0].endswith(":history")]
        events = [json.loads(args[args.index("event") + 1]) for args in told]
        if events != scratch.events:
            return f"it told {events}, by the protocol {scratch.events}"
        if not told and not scratch.steps:
            return ""
        chain = scratch.get(scratch.keys.chain) or {}
        digest = chain.get("digest", "")
        for args in told:
            text = args[args.index("event") + 1]
            said = f"{digest}\n{scratch.now}\n{text}"
            digest = hashlib.sha1(said.encode(), usedforsecurity=False).hexdigest()
        counts = {"events": len(told), "steps": scratch.steps}
        more = {name: str(int(chain.get(name, 0)) + count) for name, count in counts.items()}
        scratch.add(scratch.keys.chain, {**more, "digest": digest})
        return ""

    def _follow(self, call: Call, written: set[str]) -> str:
        """Take over what a call did that has no rule, if it touched no state."""
        for key in sorted(written):
            if ":state:" in key:
                return f"{call}: {key} is {_shown(self._value(key), self._known.get(key))}"
            self._known[key] = self._value(key)
        return ""

    def _value(self, key: str) -> Any:
        """What stands there; sets and sorted sets as dictionaries."""
        if _OTHERS.fullmatch(key):
            return removals.THERE if at_once(self._twin.command("EXISTS", key)) else None
        value = self._twin.value(key)
        if key in (DONE, INDEX) or key.startswith("cp:{runs}") or key.endswith(":due"):
            return dict(value) if value else None
        if key.endswith((":paths", ":blobs")):
            return dict.fromkeys(value, True) if value else None
        if key.endswith(":chain") and value:
            return budgets.chain_of(value)
        if ":calls:" in key and value:
            return {**value, "until": self._twin.expiry(key)}
        return value


def _keys_of(name: str, args: Sequence[str]) -> Sequence[str]:
    """The keys that a command of a script may write."""
    if name == "JSON.MSET":
        return args[::3]
    return args if name == "DEL" else args[:2] if name in ("RENAME", "COPY") else args[:1]


def _answered(call: Call) -> list[Any]:
    """The answer as the model gives it."""
    reply = list(call.reply)
    if call.script == "acquire" and reply[0] == "ok":
        reply[3] = json.loads(reply[3])
    return reply


def _compare_hints(scratch: Scratch, commands: Sequence[Any]) -> str:
    """Each hint is written, and of this run; the one that led here is dropped."""
    run, request = scratch.request.get("run", ""), scratch.request
    queued = [(name, *args) for name, args in commands if args[0].startswith("cp:queue:")]
    hinted = [] if scratch.keys.cluster else scratch.hinted
    queue = redis_keys.queue(scratch.pool if hinted else "")
    told = queue, "MAXLEN", "~", "100000", "*", "workflow", run, "path"
    wanted: list[tuple[str, ...]] = [("XADD", *told, path) for path in hinted]
    if "hint" in request:
        asked = scratch.names[2]
        drop = [("XACK", asked, request["group"], request["hint"])]
        wanted = [*drop, ("XDEL", asked, request["hint"]), *wanted]
    return "" if queued == wanted else f"it queued {queued}, by the protocol {wanted}"


def _shown(value: Any, wanted: Any) -> str:
    """A difference of two values, at its deepest place."""
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        for name in sorted(value.keys() | wanted.keys()):
            if value.get(name) != wanted.get(name):
                return f"{name}: {_shown(value.get(name), wanted.get(name))}"
    return f"{value!r}, by the protocol {wanted!r}"
