"""Cases for tests."""

from __future__ import annotations

from typing import Any

from dcf.conformance import Case, Op

PASS = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}


def case(op: Op = "execute", name: str = "a case", **request: Any) -> Case:
    """A case with ``expected`` and whatever else ``request`` has."""
    expected = request.pop("expected", {"status": "SUCCEEDED"})
    return Case(
        name=name,
        op=op,
        expected=expected,
        request={"name": name, "op": op, "expected": expected, **request},
        family=name,
        tags=tuple(request.get("tags", ())),
        placeholders=tuple(request.get("placeholders", ())),
        definition=request.get("definition", PASS),
        input=request.get("input"),
        tasks=request.get("tasks", {}),
        objects=request.get("s3", {}),
    )
