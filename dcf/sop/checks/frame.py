"""What a procedure cannot do without, and how large it may be."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.sop.findings import Findings
from dcf.sop.limits import MAX_DEPTH, MAX_STEPS
from dcf.sop.procedure import Sop
from dcf.sop.step import Step


def check_frame(sop: Sop, findings: Findings) -> bool:
    """False when the procedure is too large to be looked at further."""
    if not findings.cut_short:
        _check_parts(sop, findings)
    return _check_size(sop, findings)


def _check_parts(sop: Sop, findings: Findings) -> None:
    if not sop.title:
        findings.add("SOP_TITLE", "the title is missing", "begin with `# What is done`", 1)
    if not sop.objective:
        hint = "say under `## Objective` what is reached when all is done"
        findings.add("SOP_OBJECTIVE", "the objective is missing", hint, 1)
    if not sop.steps:
        hint = "list them under `## Steps`, each with a number: `1. Check the order`"
        findings.add("SOP_STEPS", "there are no steps", hint, 1)


def _check_size(sop: Sop, findings: Findings) -> bool:
    too_deep = _deeper_than(sop.steps, MAX_DEPTH)
    if too_deep is not None:
        hint = "make what is inside a procedure of its own"
        message = f"steps are more than {MAX_DEPTH} deep inside others"
        findings.add("SOP_LIMIT", message, hint, too_deep.line)
        return False
    count = sum(1 for _ in sop.all_steps())
    if count > MAX_STEPS:
        hint = "split it into several procedures"
        message = f"there are {count:,} steps, over {MAX_STEPS:,}"
        findings.add("SOP_LIMIT", message, hint, 1)
        return False
    return True


def _deeper_than(steps: Sequence[Step], depth: int) -> Step | None:
    """A step that is nested over ``depth`` deep."""
    for step in steps:
        if depth == 0:
            return step
        inside = [*step.steps, *(one for lane in step.lanes for one in lane.steps)]
        found = _deeper_than(inside, depth - 1)
        if found is not None:
            return found
    return None
