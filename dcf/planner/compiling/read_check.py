"""Whether what a step reads is there, whichever way led to it."""

from __future__ import annotations

from collections.abc import Iterable

from dcf.planner.compiling.known import Known
from dcf.planner.compiling.weaving import Weaving
from dcf.planner.compiling.work import needs
from dcf.sop import AllOf, AnyOf, Condition, Not, Presence, Step

UNDECIDED = "add `Writes:` with that name to the step whose value is meant, and read it here"


def check_reads(weaving: Weaving, step: Step, known: Known, visible: Known) -> None:
    """Note every name that ``step`` reads and that is not surely ``known`` there, nor written by
    the step itself before its conditions are looked at; ``visible`` are all that some step writes.
    A value that the step's conditions ask for need not be there."""
    own = {read.root for read in step.reads}
    written = weaving.surely(step) if step.kind != "end" else frozenset()
    for root in dict.fromkeys(needs(step, None)):
        if root in known or (root in written and root not in own):
            continue
        if root not in visible and (lost := weaving.why_lost(root)):
            weaving.tell("PLAN_JOIN", step, f"it reads `{root}`, and {lost}", UNDECIDED)
            continue
        if root not in visible:
            what = f"it reads `{root}`, which nothing before it writes"
            hint = "name an input, or what a step before it writes"
        elif root in own or not asks(root, (branch.condition for branch in step.branches)):
            what = f"it reads `{root}`, which not every way to it has written"
            hint = f"write it on every way, or ask first: if `{root}` is present"
        else:
            continue
        weaving.tell("PLAN_UNWRITTEN", step, what, hint)


def asks(root: str, conditions: Iterable[Condition]) -> bool:
    """Whether one of ``conditions`` asks if there is a value ``root``."""
    return any(_asks(root, condition) for condition in conditions)


def _asks(root: str, condition: Condition) -> bool:
    match condition:
        case Presence(name):
            return name.root == root
        case Not(inner):
            return _asks(root, inner)
        case AllOf(parts) | AnyOf(parts):
            return asks(root, parts)
        case _:
            return False
