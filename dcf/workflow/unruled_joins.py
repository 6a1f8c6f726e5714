"""Parallels that were compiled before procedures had rules for names that several branches write.

The compiler of then let the last branch win in silence; such a workflow runs as it was compiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dcf.problem import Problem

_TAKEN = re.compile(r"\{% \$states\.result\[(\d+)\]\.`?(\w+)`? %\}")


def warn_unruled(document: Mapping[str, Any]) -> list[Problem]:
    """A warning for each name of a compiled ``document`` that one branch wins and another loses.
    What people write by hand says with its index which branch is meant."""
    if not isinstance(document.get("plan"), Mapping):
        return []
    return list(_in_machine(document.get("asl"), "/asl"))


def _in_machine(machine: Any, pointer: str) -> Iterator[Problem]:
    states = machine.get("States") if isinstance(machine, Mapping) else None
    for name, state in states.items() if isinstance(states, Mapping) else ():
        if not isinstance(state, Mapping):
            continue
        place = f"{pointer}/States/{name.replace('~', '~0').replace('/', '~1')}"
        branches = state.get("Branches")
        if isinstance(branches, list):
            yield from _in_join(state, branches, place)
            for index, branch in enumerate(branches):
                yield from _in_machine(branch, f"{place}/Branches/{index}")
        yield from _in_machine(state.get("ItemProcessor"), f"{place}/ItemProcessor")


def _in_join(state: Mapping[str, Any], branches: list[Any], place: str) -> Iterator[Problem]:
    assigned = state.get("Assign")
    left = [_left(branch) for branch in branches]
    for variable, value in assigned.items() if isinstance(assigned, Mapping) else ():
        taken = _TAKEN.fullmatch(value) if isinstance(value, str) else None
        if taken is None:
            continue
        at, name = int(taken[1]), taken[2]
        others = [index for index, names in enumerate(left) if name in names and index != at]
        if others:
            lost = " and ".join(str(index + 1) for index in others)
            message = (
                f"`{name}` is what branch {at + 1} writes; what branch {lost} writes under the "
                "same name is lost"
            )
            hint = (
                "it was compiled before procedures had rules for this: compile it again with "
                f"`Keep the first `{name}``, `the last` or `every`; until then it runs as it is"
            )
            yield Problem(
                "WF_UNRULED_JOIN", message, f"{place}/Assign/{variable}", hint, severity="warning"
            )


def _left(branch: Any) -> frozenset[str]:
    """The names that a branch puts out where it ends."""
    states = branch.get("States") if isinstance(branch, Mapping) else None
    outputs = (
        state.get("Output")
        for state in (states.values() if isinstance(states, Mapping) else ())
        if isinstance(state, Mapping)
        and (state.get("Type") == "Succeed" or state.get("End") is True)
    )
    return frozenset(name for one in outputs if isinstance(one, Mapping) for name in one)
