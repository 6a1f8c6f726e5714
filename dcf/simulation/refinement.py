"""Each step against ``asl.step``: what a state did is what its input and its event demand.

This holds for every history, also where time or a cancellation decided what happened: the events
are taken as they came, the conclusions from them are checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from control_plane import JSON, HistoryEvent, StateDocument, payload, sibling, split_path
from dcf import asl
from dcf.simulation.behaviour import REVOKED, TELLS_EVENT, WORKER_LOST
from dcf.simulation.evidence import Evidence
from dcf.simulation.joined import failed_child, joined_results
from dcf.simulation.violation import Violation
from dcf.simulation.visibility import visible_variables

_DECIDING = ("StateDone", "StateFailed", "RetryScheduled")


def check_steps(evidence: Evidence) -> Iterator[Violation]:
    """See the module's text. After a redrive, joins are left to ``history_check``."""
    replay = _Replay(evidence)
    for entry in evidence.events:
        for seen in replay.see(entry):
            yield Violation("result", evidence.run, seen)


@dataclass(slots=True)
class _Replay:
    """What is known of a run's states up to an event."""

    evidence: Evidence
    retries: dict[tuple[str, int], dict[int, int]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    revoked: dict[tuple[str, int, int], str] = field(default_factory=dict)
    waits: dict[tuple[str, int], int] = field(default_factory=dict)
    rounds: Counter[str] = field(default_factory=Counter)
    fired: dict[str, str] = field(default_factory=dict)
    redriven: bool = False

    def see(self, entry: HistoryEvent) -> Iterator[str]:
        """Take one event in; what is wrong with it."""
        told = entry.event
        kind, path = told["type"], told.get("path", "")
        if kind in TELLS_EVENT and told.get("event") in REVOKED:
            self.revoked[path, told["visit"], told["try"]] = told["event"]
        elif kind == "RunRedriven":
            self.redriven = True
        elif kind in ("Joined", "ChildFailed"):
            self.fired[path] = kind
        elif kind == "FannedOut":
            self.rounds[path] += 1
            self.fired.pop(path, None)
            yield from self._check_fan(told)
        elif kind == "WaitStarted":
            self.waits[path, told["visit"]] = entry.at + round(told.get("seconds", 0.0) * 1000)
        elif kind in _DECIDING:
            yield from self._check_step(entry)

    def _check_fan(self, told: dict[str, Any]) -> Iterator[str]:
        state, visit = self._state(told)
        effect = asl.step(state, visit, asl.Entered())
        shape = told["n"], told.get("fail_limit", 0)
        if not isinstance(effect, asl.FanOut) or (effect.count, effect.fail_limit) != shape:
            yield f"{told}, but the step is {effect}"

    def _check_step(self, entry: HistoryEvent) -> Iterator[str]:
        told = entry.event
        path = told["path"]
        state, visit = self._state(told)
        waits_until = self.waits.get((path, told["visit"]), 0)
        if state.type == "Wait" and told["type"] == "StateDone" and entry.at < waits_until:
            yield f"{told} at {entry.at}, before its time {waits_until}"
        effect = self._effect(told, state, visit)
        if effect is None:
            return
        if isinstance(effect, asl.RetryAfter):
            used = self.retries[path, told["visit"]]
            used[effect.retrier] = used.get(effect.retrier, 0) + 1
        if not self._agrees(told, effect):
            yield f"{told}, but the step is {effect}"

    def _state(self, told: dict[str, Any]) -> tuple[asl.State, asl.Visit]:
        path = told["path"]
        state = self.evidence.order.document.machine.locate(list(split_path(path)))
        document = self._document(told)
        given = self.evidence.value(document.input)
        variables = visible_variables(self.evidence, document)
        return state, asl.Visit(given, {}, variables, self.retries[path, told["visit"]])

    def _assigned(self, told: dict[str, Any], assign: dict[str, JSON]) -> bool:
        """Whether the state that follows got what was assigned, besides what its frame had."""
        if not assign:
            return "variables" not in told
        before = self.evidence.value(self._document(told).variables) or {}
        after = payload.encode({**before, **assign}).digest
        return (told.get("assigned"), told.get("variables")) == (sorted(assign), after)

    def _document(self, told: dict[str, Any]) -> StateDocument:
        found = self.evidence.visit(told["path"], told["visit"])
        if found is None:
            raise LookupError(f"no document for {told}")
        return found[1]

    def _effect(
        self, told: dict[str, Any], state: asl.State, visit: asl.Visit
    ) -> asl.Effect | None:
        """What the step must have been; None where this replay cannot say."""
        path = told["path"]
        revoked = self.revoked.get((path, told["visit"], told["try"]))
        effect = asl.step(state, visit, asl.Entered())
        if isinstance(effect, asl.RunTask):
            return asl.step(state, visit, self._answer(told, state, effect, revoked))
        if isinstance(effect, (asl.WaitFor, asl.WaitUntil)) and told["type"] == "StateDone":
            return asl.step(state, visit, asl.TimerFired())
        if not isinstance(effect, asl.FanOut):
            return asl.Failure(*WORKER_LOST) if revoked == "worker_lost" else effect
        if revoked == "worker_lost":
            return asl.step(state, visit, asl.ResultRefused(*WORKER_LOST))
        if effect.count == 0:
            return asl.step(state, visit, asl.Joined([]))
        if self.redriven:
            return None
        return asl.step(state, visit, self._join(path, effect.count))

    def _answer(
        self, told: dict[str, Any], state: asl.State, effect: asl.RunTask, revoked: str | None
    ) -> asl.TaskSucceeded | asl.TaskFailed:
        if revoked is not None:
            return asl.TaskFailed(*REVOKED[revoked])
        site, attempt = state.resource or "", told["try"] - 1
        behaviour = self.evidence.order.sites[site]
        if not behaviour.answers(attempt):
            # Its answer came too late to count: whatever was made of it is wrong.
            return asl.TaskFailed("Sim.TooLate", "the work never answers in time")
        return behaviour.event(site, attempt, effect.arguments)

    def _join(self, path: str, count: int) -> asl.Joined | asl.ChildFailed:
        round_ = self.rounds[path]
        if self.fired.get(path) == "Joined":
            return joined_results(self.evidence, path, round_, count)
        return asl.ChildFailed(*failed_child(self.evidence, path, round_))

    def _agrees(self, told: dict[str, Any], effect: asl.Effect) -> bool:
        kind = told["type"]
        if isinstance(effect, (asl.Transition, asl.Finish)):
            goes = (
                sibling(told["path"], effect.next) if isinstance(effect, asl.Transition) else None
            )
            same = payload.encode(effect.output).digest == told.get("output")
            same = same and (goes is None or self._assigned(told, effect.assign))
            return kind == "StateDone" and told.get("next") == goes and same
        if isinstance(effect, asl.Failure):
            error = self._document(told).error
            return (
                kind == "StateFailed"
                and error is not None
                and (error.error, error.cause) == (effect.error, effect.cause)
            )
        return (
            isinstance(effect, asl.RetryAfter)
            and kind == "RetryScheduled"
            and told["error"] == effect.error
        )
