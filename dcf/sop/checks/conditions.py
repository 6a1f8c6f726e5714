"""Conditions that can never hold, or never be reached because another holds first."""

from __future__ import annotations

from collections.abc import Iterable

from dcf.sop.checks.ranges import Range, range_of
from dcf.sop.condition import AllOf, AnyOf, Comparison, Condition, Name, Not, Presence
from dcf.sop.findings import Findings
from dcf.sop.language.condition_print import print_condition
from dcf.sop.procedure import Sop
from dcf.sop.step import Branch, Step


def check_conditions(sop: Sop, findings: Findings) -> None:
    """Only what is certain is said: comparisons of one name with constants."""
    for step in sop.all_steps():
        for branch in step.branches:
            if not possible(branch.condition):
                shown = print_condition(branch.condition)
                message = f"the condition `{shown}` contradicts itself: it never holds"
                hint = "use or instead of and, or mend one of the values"
                findings.add("SOP_CONTRADICTION", message, hint, branch.line or step.line)
        _check_order(step, findings)


def _check_order(step: Step, findings: Findings) -> None:
    # Only what bounds the same name can hold before it; a single value, only that value.
    before: dict[object, list[Branch]] = {}
    for branch in step.branches:
        candidates = [one for key in _asked_of(branch.condition) for one in before.get(key, ())]
        _keep(branch, before)
        for earlier in candidates:
            if covers(earlier.condition, branch.condition):
                message = (
                    f"`{print_condition(branch.condition)}` never decides: whenever it holds, "
                    f"`{print_condition(earlier.condition)}` was taken before"
                )
                hint = "put the narrower condition first, or remove one"
                findings.add("SOP_CONTRADICTION", message, hint, branch.line or step.line)
                break


def _keep(branch: Branch, before: dict[object, list[Branch]]) -> None:
    """Note ``branch`` for those behind it; of all that are open to one side only the widest."""
    key = _kept_under(branch.condition)
    kept = before.setdefault(key, [])
    if isinstance(key, Name):
        for one in kept:
            if covers(one.condition, branch.condition):
                return
        kept[:] = [one for one in kept if not covers(branch.condition, one.condition)]
    kept.append(branch)


def _kept_under(condition: Condition) -> object:
    """What a later condition has to ask for to find this one, which may cover it."""
    found = range_of(condition)
    if found is None:
        return None if isinstance(condition, AnyOf) else condition
    name, values = found
    if values.among is not None and len(values.among) == 1:
        (only,) = values.among
        return name, only.value
    return name


def _asked_of(condition: Condition) -> list[object]:
    """The keys under which conditions are kept that may cover this one."""
    keys: dict[object, None] = {None: None, condition: None}
    for part in [condition, *(condition.conditions if isinstance(condition, AllOf) else ())]:
        keys |= dict.fromkeys((part, *_asked_of(part)) if part is not condition else ())
        found = range_of(part)
        if found is not None:
            name, values = found
            keys |= {name: None}
            if values.among is not None:
                keys |= {(name, one.value): None for one in values.among}
    return list(keys)


def possible(condition: Condition) -> bool:
    """False only when no values can make ``condition`` hold."""
    if isinstance(condition, AnyOf):
        return any(possible(each) for each in condition.conditions)
    parts = condition.conditions if isinstance(condition, AllOf) else (condition,)
    if not all(possible(each) for each in parts if isinstance(each, AllOf | AnyOf)):
        return False
    if any(Not(part) in parts for part in parts):
        return False
    return not _absent_and_compared(parts) and _ranges_meet(parts)


def _absent_and_compared(parts: Iterable[Condition]) -> bool:
    present = {part.left for part in parts if isinstance(part, Comparison)}
    return any(
        isinstance(part, Not)
        and isinstance(part.condition, Presence)
        and part.condition.name in present
        for part in parts
    )


def _ranges_meet(parts: Iterable[Condition]) -> bool:
    ranges: dict[Name, Range] = {}
    for part in parts:
        found = range_of(part)
        if found is not None:
            name, wanted = found
            ranges[name] = ranges[name].meet(wanted) if name in ranges else wanted
    return not any(each.is_empty for each in ranges.values())


def covers(earlier: Condition, later: Condition) -> bool:
    """Whether ``earlier`` certainly holds whenever ``later`` does."""
    if earlier == later:
        return True
    if isinstance(later, AllOf):
        return any(covers(earlier, each) for each in later.conditions)
    if isinstance(earlier, AnyOf):
        return any(covers(each, later) for each in earlier.conditions)
    first, second = range_of(earlier), range_of(later)
    return (
        first is not None
        and second is not None
        and first[0] == second[0]
        and first[1].contains(second[1])
    )
