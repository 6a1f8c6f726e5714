"""Evaluating one JSONata expression in a test."""

from __future__ import annotations

import re
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from dcf.asl.errors import EvaluationError
from dcf.asl.jsonata import engine
from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.scope import Scope
from dcf.worker.grace import sight_of

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


_ENGINES = (engine._engine, _ENDED_EARLY)


def spent_s() -> float:
    """Seconds of processor time that this thread and the engines have taken."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = [sight_of(one._process.pid).ran_s for one in _ENGINES if one._process is not None]
    return time.thread_time() + ended.ru_utime + ended.ru_stime + sum(running)


@contextmanager
def peak_of_engine() -> Iterator[list[int]]:
    """The most bytes of memory that a new engine has at once, while this lasts."""
    engine._engine.close()
    peaks, over = [0], threading.Event()

    def look() -> None:
        while not over.wait(0.002):
            process = engine._engine._process
            # It may have ended since.
            with suppress(OSError):
                if process is not None:
                    text = Path(f"/proc/{process.pid}/status").read_text()
                    found = re.search(r"VmHWM:\s*(\d+) kB", text)
                    peaks.append(int(found[1]) * 1024 if found else 0)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield peaks
    finally:
        over.set()
        looking.join()


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
