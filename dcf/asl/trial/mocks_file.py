"""A mocks file, read and checked.

A mocks file is an object with ``states`` (by name of the state, or path such as ``Fan/2/Fetch``)
and ``resources`` (by ``Resource``; ``*`` and ``?`` stand for any text and character)::

    {"states": {"Pay": [{"error": "Bank.Busy", "after": 2}, {"return": {"paid": true}}]},
     "resources": {"arn:aws:lambda:*": {"echo": true}}}

A single answer is for every call. A list is a sequence: each answer is for one call, or for
``times`` calls (``always``: for all that follow); a call after the last is an error. An answer has
one of ``return``, ``error`` (with ``cause``), ``never: true`` and ``echo: true``, and may have
``after`` (virtual seconds), ``when`` (only calls whose arguments have this part get it) and
``expect`` (arguments without this part are an error). Who answers sends heartbeats until then; who
never does sends them at ``heartbeats``, seconds after the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dcf.asl.errors import AslError
from dcf.asl.machine import StateMachine
from dcf.asl.payload import JSON, kind
from dcf.asl.reading.fields import closest_hint
from dcf.asl.reading.findings import Findings, child
from dcf.asl.trial.mocked_answer import MockedAnswer, read_answer
from dcf.asl.trial.mocks import LONGEST_PATTERN, Mocks, is_pattern
from dcf.problem import Problem, has_errors

_SECTIONS = ("states", "resources")


class MocksInvalid(AslError):
    """A mocks file has errors; ``problems`` lists all of them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def read_mocks(value: JSON, machine: StateMachine | None = None) -> Mocks:
    """The mocks written as ``value``. With ``machine``, states that it has not are errors too.

    Raises MocksInvalid with every problem; their ``path`` is a JSON pointer into ``value``.
    """
    findings = Findings()
    sections: dict[str, dict[str, tuple[MockedAnswer, ...]]] = {name: {} for name in _SECTIONS}
    if not isinstance(value, dict):
        hint = 'write {"states": {"Pay": {"return": …}}}'
        message = f"a mocks file holds an object, found {kind(value)}"
        findings.error("ASL_MOCK_FILE", "", message, hint)
        value = {}
    for name, entries in value.items():
        if name not in _SECTIONS:
            message = f"a mocks file has no section `{name}`"
            hint = closest_hint(name, _SECTIONS)
            findings.error("ASL_MOCK_FILE", child("", name), message, hint)
        elif not isinstance(entries, dict):
            message = f"`{name}` is an object, found {kind(entries)}"
            findings.error("ASL_MOCK_FILE", child("", name), message, "name what is mocked in it")
        else:
            sections[name] = _read_section(entries, child("", name), findings)
            if name == "states" and machine is not None:
                _check_names(entries, machine, findings)
            if name == "resources":
                _check_patterns(entries, findings)
    if has_errors(findings.problems):
        raise MocksInvalid(findings.problems)
    return Mocks(sections["states"], sections["resources"])


def _read_section(
    entries: Mapping[str, Any], pointer: str, findings: Findings
) -> dict[str, tuple[MockedAnswer, ...]]:
    read = {}
    for name, written in entries.items():
        at = child(pointer, name)
        if isinstance(written, list):
            if not written:
                message = "a sequence has at least one answer"
                findings.error("ASL_MOCK_ANSWER", at, message, "add one, or leave the entry out")
            answers = [read_answer(one, child(at, i), findings) for i, one in enumerate(written)]
        else:
            answers = [read_answer(written, at, findings, times=float("inf"))]
        read[name] = tuple(answer for answer in answers if answer is not None)
    return read


def _check_names(entries: Iterable[str], machine: StateMachine, findings: Findings) -> None:
    tasks = set(_task_names(machine))
    for name in entries:
        if name.rpartition("/")[2] not in tasks and name not in tasks:
            message = f"the machine has no Task `{name}`"
            hint = closest_hint(name, tasks) if tasks else "it has no Task at all"
            findings.error("ASL_MOCK_STATE", child("", "states", name), message, hint)


def _check_patterns(entries: Iterable[str], findings: Findings) -> None:
    for name in entries:
        if is_pattern(name) and len(name) > LONGEST_PATTERN:
            message = f"a pattern has at most {LONGEST_PATTERN} characters, found {len(name)}"
            at = child("", "resources", name)
            findings.error("ASL_MOCK_FILE", at, message, "write * for what is long in it")


def _task_names(machine: StateMachine) -> Iterable[str]:
    for name, state in machine.states.items():
        if state.type == "Task":
            yield name
        for inner in (*state.branches, *([state.processor] if state.processor else ())):
            yield from _task_names(inner)
