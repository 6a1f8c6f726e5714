"""Where two engines answered differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcf.asl import JSON
from dcf.conformance.case import Case
from dcf.conformance.judge import judge
from dcf.conformance.likeness import alike
from dcf.conformance.result import Result


@dataclass(frozen=True, slots=True)
class Difference:
    """``field`` (``status``, ``output`` or ``error``) of ``name`` is ``here`` and ``there``."""

    name: str
    field: str
    here: JSON
    there: JSON


def differences(
    cases: Sequence[Case], here: Mapping[str, Result], there: Mapping[str, Result]
) -> list[Difference]:
    """Every difference in a case that both tried.

    Outputs that both are what was recorded do not differ: what its placeholders leave open (ids,
    instants, random numbers) may be another in each execution.
    """
    found = []
    for case in cases:
        ours, theirs = here.get(case.name), there.get(case.name)
        if ours is None or theirs is None or ours.is_skipped or theirs.is_skipped:
            continue
        found += _of_one(case, ours, theirs)
    return found


def _of_one(case: Case, ours: Result, theirs: Result) -> list[Difference]:
    if ours.status != theirs.status:
        return [Difference(case.name, "status", ours.status, theirs.status)]
    found = []
    recorded = bool(case.placeholders) and judge(case, ours).value and judge(case, theirs).value
    if not recorded and not alike(ours.output, theirs.output):
        found.append(Difference(case.name, "output", ours.output, theirs.output))
    if (ours.error or "") != (theirs.error or ""):
        found.append(Difference(case.name, "error", ours.error, theirs.error))
    return found
