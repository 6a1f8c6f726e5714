"""Tasks that answer what was recorded, and check what they are asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dcf.asl import JSON, Answer, TaskCall, TaskFailed, TaskSucceeded
from dcf.conformance.likeness import alike
from dcf.conformance.task_kind import answer_of, compact

NOT_RECORDED = "Conformance.NotRecorded"
"""Error of a call that the recording knows nothing of: the execution went another way."""

_EXCERPT = 300


class RecordedTasks:
    """Call it with each try of a Task, in the order the tries start.

    ``tasks`` is by Resource; ``calls`` in it by the name of the state. In sequence the nth try
    gets the nth call. Inside a Map or Parallel, where the order is free, it gets the first unused
    call with these arguments, else the next unused one. A resource whose calls were not recorded
    behaves as its ``kind`` says. ``mismatches`` tells of the tries whose arguments differ.

    Without ``calls_exact`` the recording lost which state a call belongs to and where its answer
    was: each call may then be any state's, and one without an answer gets that of the kind.
    """

    def __init__(
        self,
        tasks: Mapping[str, Any],
        placeholders: Sequence[str] = (),
        *,
        calls_exact: bool = True,
    ) -> None:
        self._tasks = tasks
        self._placeholders = tuple(placeholders)
        self._is_exact = calls_exact
        self._unused: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for resource, task in tasks.items():
            for state, calls in task.get("calls", {}).items():
                self._unused.setdefault(self._key(resource, state), []).extend(calls)
        self._mismatches: dict[str, None] = {}

    @property
    def mismatches(self) -> list[str]:
        """What differs from the recording, each thing once however often it was tried."""
        return list(self._mismatches)

    def _key(self, resource: str, state: str) -> tuple[str, str]:
        return resource, state if self._is_exact else ""

    def __call__(self, call: TaskCall) -> Answer:
        resource, state = call.resource or "", str(call.path[-1])
        task = self._tasks.get(resource)
        if task is None:
            return self._not_recorded(f"no task is recorded for the resource {resource!r}")
        if not task.get("calls"):
            return answer_of(task, call.arguments) or self._not_recorded(
                f"{state!r}: the resource has no recorded calls and no kind that answers"
            )
        recorded = self._take(resource, state, call)
        if recorded is None:
            return self._not_recorded(f"{state!r} calls {resource!r} more often than recorded")
        self._check(state, recorded, call.arguments)
        if recorded.get("Never") and not self._is_exact:
            return answer_of(task, call.arguments) or Answer(None)
        return _answer(recorded, task)

    def _take(self, resource: str, state: str, call: TaskCall) -> dict[str, Any] | None:
        unused = self._unused.get(self._key(resource, state))
        if not unused:
            return None
        order_is_free = len(call.path) > 1 or not self._is_exact
        if order_is_free:
            for number, recorded in enumerate(unused):
                if self._fits(recorded, call.arguments):
                    return unused.pop(number)
        return unused.pop(0)

    def _fits(self, recorded: dict[str, Any], arguments: JSON) -> bool:
        return "input" not in recorded or alike(recorded["input"], arguments, self._placeholders)

    def _check(self, state: str, recorded: dict[str, Any], arguments: JSON) -> None:
        if not self._fits(recorded, arguments):
            want, got = _excerpt(recorded["input"]), _excerpt(arguments)
            self._mismatches[f"{state!r} was given {got}; recorded: {want}"] = None

    def _not_recorded(self, what: str) -> Answer:
        self._mismatches[what] = None
        return Answer(TaskFailed(NOT_RECORDED, what))


def _answer(recorded: Mapping[str, Any], task: Mapping[str, Any]) -> Answer:
    if recorded.get("Never"):
        return Answer(None)
    after_s = float(task["seconds"]) if task.get("kind") == "sleep" else 0.0
    if "Throw" in recorded:
        thrown = recorded["Throw"]
        return Answer(TaskFailed(thrown.get("error"), _cause(thrown.get("cause"), task)), after_s)
    return Answer(TaskSucceeded(recorded.get("Return")), after_s)


def _cause(recorded: str | None, task: Mapping[str, Any]) -> str | None:
    """``recorded`` as the service writes it.

    The recording keeps a cause that is JSON with blanks, as a Lambda function sends it and a Task
    with the function's own ARN passes it on. Through ``lambda:invoke`` it arrives without blanks.
    """
    if recorded is None or task.get("kind") != "lambda_invoke":
        return recorded
    try:
        return compact(json.loads(recorded))
    except ValueError:
        return recorded


def _excerpt(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}… ({len(text)} characters)"
