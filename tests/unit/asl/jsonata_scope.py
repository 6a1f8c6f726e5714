"""Evaluating one JSONata expression in a test."""

from __future__ import annotations

from typing import Any

import pytest

from dcf.asl.errors import EvaluationError
from dcf.asl.jsonata import engine
from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.scope import Scope

CONTEXT = {
    "Execution": {"Id": "e", "StartTime": "2024-05-01T00:00:00Z"},
    "State": {"Name": "S", "EnteredTime": "2024-05-01T10:00:00.250Z"},
}


_ENDED_EARLY = engine._Engine(
    engine._CODE.replace(
        "evaluator.main()",
        "evaluator.TIME_LIMIT_S /= 10; evaluator.LIMITS['max_steps'] //= 10; evaluator.main()",
    )
)


def lower_jsonata_limits(monkeypatch: pytest.MonkeyPatch, share: int) -> None:
    """In share 0 of a campaign an expression has a tenth of the time and of the steps that it has
    elsewhere. What is without a limit takes as long as before."""
    if share == 0:
        monkeypatch.setattr(engine, "_engine", _ENDED_EARLY)


def jsonata(text: str, input: Any = None, **variables: Any) -> Any:
    """What ``text``, without its ``{% %}``, gives."""
    return compile_jsonata(f"{{% {text} %}}", "Output")(Scope(input, CONTEXT, variables))


def jsonata_cause(text: str, input: Any = None, **variables: Any) -> str:
    """The cause with which ``text`` fails, behind ``… specified for the field 'Output' ``."""
    with pytest.raises(EvaluationError) as caught:
        jsonata(text, input, **variables)
    assert caught.value.error == "States.QueryEvaluationError"
    before, named, cause = caught.value.cause.partition(" specified for the field 'Output' ")
    assert named and before == f"The JSONata expression '{text}'"
    return cause
