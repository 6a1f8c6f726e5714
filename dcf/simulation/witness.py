"""The witness: sees each script right after it took effect and keeps what must stay true.

It decides nothing by the documents' own control fields: fences, lease ends and commits are counted
here from what was asked and answered.
"""

from __future__ import annotations

import copy
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import ControlPlaneError, RefusedForNow, ServerError, refusals
from dcf.simulation.calls import ToolCall
from dcf.simulation.model import Model
from dcf.simulation.records import Grant, Records
from dcf.simulation.server import EXAMINER, Call
from dcf.simulation.violation import Guarantee, Violation

_OVER = ("succeeded", "failed", "timed_out", "cancelled")
_CLOSING = ("StateDone", "StateFailed", "RetryScheduled")
Step = tuple[str, str, int, int, str]
Known = tuple[dict[str, Any], Any, Any]
# What a witness says of the server, and not of those who speak with it.
_FORGOTTEN = (
    *("changed", "_granted", "_grants", "_by_token", "_answers", "_steps", "_said"),
    *("_given_back", "_over", "_asked", "_noted"),
)


@dataclass(slots=True)
class Cancelled:
    """Runs that were cancelled or redriven while the simulation went on."""

    cancelled: set[str]
    redriven: set[str]


class Witness:
    """See the module's text. ``violations`` are in the order in which they were seen."""

    def __init__(self, records: Callable[[], Records], model: Callable[[], Model]) -> None:
        self.violations: list[Violation] = []
        self.tokens: set[str] = set()
        self.scripts: Counter[str] = Counter()
        self.takeovers = 0
        self.changed = Cancelled(set(), set())
        self._records = records
        self._model = model
        self.forgotten: set[tuple[str, str, int]] = set()
        """Leases that the server forgot: run, path and fence."""
        self._granted: set[tuple[str, str, int]] = set()
        self._grants: dict[tuple[str, str], Grant] = {}
        self._by_token: dict[str, Grant] = {}
        self._answers: dict[tuple[str, str], list[object]] = {}
        self._steps: set[Step] = set()
        self._said: set[str] = set()
        self._given_back: set[str] = set()
        self._over: dict[str, str] = {}
        self._approved: Counter[tuple[str, str, int, int, str]] = Counter()
        self._paid: dict[tuple[str, str, int, int, str], set[str]] = defaultdict(set)
        self._called: dict[tuple[str, str, int, int], set[str]] = defaultdict(set)
        self._calls: dict[str, ToolCall] = {}
        self._asked: dict[tuple[str, str], int] = {}
        self._noted: set[tuple[str, str, int, str]] = set()

    def called(self, call: Call) -> None:
        """See ``server.Watcher``."""
        self.scripts[call.script] += 1
        self.violations += self._model().check(call)
        if call.who == EXAMINER:
            return
        if "call" in call.request:
            # Said again, it only repeats its first answer.
            said = json.dumps(call.request)
            if said in self._said:
                return
            self._said.add(said)
        if call.reply[0] == "bad_document" and refusals.refusal_in(str(call.reply[1])) is not None:
            self._see("sound", call.request.get("run", ""), f"a text is blamed for it: {call}")
        look = _LOOKS.get(call.script)
        if look is not None and call.reply[0] == "ok":
            look(self, call)

    def dispatched(self, call: ToolCall) -> None:
        """A call reached a tool. One that needs approval must have it by now, as many approvals as
        there are different calls; one whose answer was kept when the work stopped for an approval
        must not be made again; a try makes no more different calls than its budget allows."""
        place = (call.run, call.path, call.visit, call.try_)
        if call.tool == "pay":
            paid = self._paid[*place, call.digest]
            paid.add(call.key)
            if len(paid) > self._approved[*place, call.digest]:
                self._see("approved", call.run, f"not approved, or used before: {call}")
        called = self._called[place]
        called.add(call.key)
        if len(called) > call.allowed:
            self._see("budget", call.run, f"{len(called)} calls of {call.allowed}: {call}")
        if not self._is_noted(call):
            return
        first = self._calls.setdefault(call.key, call)
        if (first.tool, first.digest) != (call.tool, call.digest):
            self._see("effect", call.run, f"one key for {first} and {call}")
        if first.fence <= self._asked.get((call.run, call.path), -1) < call.fence:
            self._see("approved", call.run, f"made again after the question: {call}")

    def failed(self, call: Call, error: ControlPlaneError) -> None:
        """See ``server.Watcher``: no script ever fails, but over what a strange hand damaged, and
        what gives memory back goes on without any."""
        run = call.request.get("run", "")
        if isinstance(error, ServerError) and not self._model().excuses(call):
            self._see("sound", run, f"{call.script} failed: {error}")
        full = isinstance(error, RefusedForNow) and error.fields["refusal"] == "OOM"
        if full and self._model().frees(call):
            self._see("sound", run, f"a removal that had begun was refused: {error}")

    def commanded(self, name: str, args: Sequence[str]) -> None:
        """See ``server.Watcher``."""
        self._model().follow(name, args)

    def snapshot(self) -> Known:
        """What stays true of the server as it is now."""
        ours = {name: getattr(self, name) for name in _FORGOTTEN}
        return copy.deepcopy(ours), self._records().snapshot(), self._model().snapshot()

    def restore(self, known: Known) -> None:
        """The server lost what came after ``known``. What was handed out remains: tokens, calls of
        tools, and decisions of persons."""
        ours, records, model = known
        self.forgotten |= self._granted - ours["_granted"]
        for name, value in ours.items():
            setattr(self, name, value)
        self._records().restore(records)
        self._model().restore(model)
        self._calls = {key: call for key, call in self._calls.items() if self._is_noted(call)}

    def defect(self, what: str) -> None:
        """Something in production code broke."""
        self._see("sound", "", what)

    def saw(self, guarantees: Collection[Guarantee]) -> bool:
        """Whether one of ``guarantees`` is known to be broken."""
        return any(violation.guarantee in guarantees for violation in self.violations)

    def _see(self, guarantee: Guarantee, run: str, seen: str) -> None:
        self.violations.append(Violation(guarantee, run, seen))

    # -- leases -----------------------------------------------------------------------------------

    def _acquired(self, call: Call) -> None:
        request = call.request
        self.tokens.add(request["token"])
        now = int(call.reply[2])
        self._grant(call, request["path"], request["token"], int(call.reply[1]), now)

    def _grant(self, call: Call, path: str, token: str, fence: int, now: int) -> None:
        run, ends = call.request["run"], now + call.request["ttl"]
        known = self._by_token.get(token)
        if known is not None and known.fence == fence:
            return
        # The same call heard once more when its lease is over is a call like any other.
        if known is not None and known.ends > now and not known.over:
            self._see("fenced", run, f"the lease of {path} was given twice: {call}")
            return
        before = self._grants.get((run, path))
        if before is not None and fence <= before.fence:
            self._see("fenced", run, f"fence {fence} of {path} follows {before.fence}: {call}")
        self._alive(call)
        grant = Grant(fence, ends, call.who)
        self._granted.add((run, path, fence))
        self._grants[run, path] = self._by_token[token] = grant

    def _moved(self, call: Call) -> None:
        if call.request["revoke"]:
            for (run, _), grant in self._grants.items():
                grant.over |= run == call.request["run"]

    def _renewed(self, call: Call) -> None:
        grant = self._held(call, int(call.reply[2]))
        if grant is not None:
            grant.ends = int(call.reply[1])

    def _released(self, call: Call) -> None:
        token = call.request["token"]
        if token in self._given_back:
            # Said again, it only repeats its first answer.
            return
        self._given_back.add(token)
        if "died" in call.request:
            # It may be told of a lease that has ended by itself: the model knows when.
            self._alive(call)
            return
        grant = self._held(call, int(call.at * 1000) + self._records().epoch_ms)
        if grant is not None:
            grant.over = True

    def _held(self, call: Call, now: int) -> Grant | None:
        """The lease that ``call`` writes under, which must be the newest and unexpired."""
        run, path = call.request["run"], call.request["path"]
        grant = self._grants.get((run, path))
        if grant is None or grant.fence != call.request["fence"]:
            self._see("fenced", run, f"a write under a lease that is not the newest: {call}")
        elif grant.ends <= now:
            self._see("fenced", run, f"a write under a lease that ended at {grant.ends}: {call}")
        self._alive(call)
        return grant

    def _alive(self, call: Call) -> None:
        status = self._over.get(call.request["run"])
        if status is not None:
            self._see("terminal", call.request["run"], f"the run was {status} before: {call}")

    # -- commits ----------------------------------------------------------------------------------

    def _committed(self, call: Call) -> None:
        request, run = call.request, call.request["run"]
        answer = list(call.reply[:-1])
        first = self._answers.get((run, request["commit_id"]))
        if first is not None:
            if first != answer:
                self._see("one_commit", run, f"said again, answered otherwise: {first}, {call}")
            return
        self._answers[run, request["commit_id"]] = answer
        now = int(answer[5])
        self._held(call, now)
        event = json.loads(call.texts[2])
        kind = "end" if event["type"] in _CLOSING else event["type"]
        step: Step = (run, request["path"], event["visit"], event.get("try", 0), kind)
        if step in self._steps:
            self._see("one_commit", run, f"{step} was committed before: {call}")
        self._steps.add(step)
        if kind == "ApprovalRequested":
            self._asked[run, request["path"]] = request["fence"]
        if answer[4]:
            self._run_over(run, str(answer[4]))
        if answer[1]:
            self.tokens.add(request["next_token"])
            self._grant(call, str(answer[1]), request["next_token"], int(answer[2]), now)
        self._records().note_commit(run, request["path"], request["visit"])

    # -- calls of tools ---------------------------------------------------------------------------

    def _call_noted(self, call: Call) -> None:
        request = call.request
        self._noted.add((request["run"], request["path"], request["fence"], str(call.reply[3])))

    def _is_noted(self, call: ToolCall) -> bool:
        """Whether the server knows the number of ``call``. One that it forgot may be given to
        another call, of whoever repeats the try and goes another way."""
        number = call.key.rsplit("/", 1)[1]
        return (call.run, call.path, call.fence, number) in self._noted

    def _signalled(self, call: Call) -> None:
        request = call.request
        if request["event"] != "approval":
            return
        told = json.loads(call.texts[1])
        if told["decision"] == "approve":
            place = (request["run"], request["path"], request["visit"], request["try"])
            self._approved[*place, told["digest"]] += 1

    # -- runs -------------------------------------------------------------------------------------

    def _ticked(self, call: Call) -> None:
        status = call.reply[4]
        if status in _OVER and call.request["run"] not in self._over:
            self._run_over(call.request["run"], status)

    def _cancelled(self, call: Call) -> None:
        self.changed.cancelled.add(call.request["run"])
        self._run_over(call.request["run"], "cancelled")

    def _run_over(self, run: str, status: str) -> None:
        if run in self._over:
            self._see("terminal", run, f"it was {self._over[run]} and is {status} now")
        self._over[run] = status
        self._records().note_end(run)

    def _closed(self, call: Call) -> None:
        for path in call.request["paths"] or ():
            self._records().note(call.request["run"], path)

    def _redriven(self, call: Call) -> None:
        if call.request.get("last"):
            run = call.request["run"]
            self.changed.redriven.add(run)
            self._over.pop(run, None)
            self._records().forget_end(run)


_LOOKS: dict[str, Callable[[Witness, Call], None]] = {
    "acquire": Witness._acquired,
    "move": Witness._moved,
    "renew": Witness._renewed,
    "release": Witness._released,
    "commit": Witness._committed,
    "note": Witness._call_noted,
    "tick": Witness._ticked,
    "cancel": Witness._cancelled,
    "close": Witness._closed,
    "signal": Witness._signalled,
    "redrive": Witness._redriven,
}
