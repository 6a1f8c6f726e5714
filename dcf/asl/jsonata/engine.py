"""JSONata's engine as this room asks it: one text, what it may read, and what comes out.

Nothing else knows that it is ``jlens``, and that it runs in a process of its own (``evaluator``),
which is started by the first expression that is not tame (``tameness``) and ends with this one.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import dcf
from dcf.asl.evaluation_budget import MEMORY_REACHED, STACK_REACHED, TIME_REACHED
from dcf.asl.jsonata import evaluator
from dcf.asl.jsonata.evaluator import NOT_DATA, TOO_BIG, Limits
from dcf.asl.jsonata.exact_numbers import read_result, to_doubles
from dcf.asl.jsonata.functions import NotData
from dcf.asl.jsonata.program import Program
from dcf.asl.jsonata.tameness import LARGEST_VALUE
from dcf.asl.payload import JSON, compact
from dcf.asl.scope import Scope


class Undefined(Exception):
    """An expression found nothing."""


class Failed(Exception):
    """An expression failed; the text says why, as Step Functions does. ``code`` is that of JSONata,
    None where a limit was reached."""

    def __init__(self, why: str, code: str | None = None) -> None:
        super().__init__(f"{code}: {why}" if code else why)
        self.code = code


_LIMITS = {
    "D1011": STACK_REACHED,
    "D1012": TIME_REACHED,
    "U1006": TIME_REACHED,
    "D2014": MEMORY_REACHED,
    "D2016": MEMORY_REACHED,
    "U1001": MEMORY_REACHED,
    TOO_BIG: MEMORY_REACHED,
}
"""What the engine's errors about its limits are called on AWS."""

_LIMITS_HERE: Limits = {
    "timeout": 0.05,
    "max_steps": 20_000,
    "max_string_length": 1_000_000,
    "max_array_length": 100_000,
    "max_result_size": 3 * LARGEST_VALUE,
}
"""With what meets one of these the process deals: how long this one may stand still."""

_UNEQUAL = "($dcf_v := {text}; $exists($dcf_v.**[$ != $]))"
"""Whether something in a value does not equal itself."""

_DEATHS: dict[int, str] = {
    signal.SIGPROF: TIME_REACHED,
    signal.SIGABRT: MEMORY_REACHED,
    signal.SIGSEGV: STACK_REACHED,
    signal.SIGBUS: STACK_REACHED,
}
"""How an expression ends its process: it ran too long, was given no memory, or nested too deep."""

PATIENCE_S = 60.0
"""So long an answer may take by the clock. The process is ended after two seconds of processor
time, which one that was stopped never spends."""

_CODE = """\
import sys
sys.path.insert(0, sys.argv[1])
from dcf.asl.jsonata import evaluator
evaluator.main()"""


def evaluate(program: Program, scope: Scope, picked: Mapping[str, JSON]) -> JSON:
    """The value of an expression; ``picked`` are further variables.

    Raises Undefined, NotData for a result that holds a function, and Failed for anything else.
    """
    seed = scope.random().getrandbits(63) if program.draws else 0
    try:
        return _evaluated(program, scope, picked, seed)
    except RecursionError:  # data that nests too deep to be written or read
        raise Failed(STACK_REACHED) from None


def _evaluated(program: Program, scope: Scope, picked: Mapping[str, JSON], seed: int) -> JSON:
    given = program.readable(scope, picked)
    exact = compact(given)
    text, meant = to_doubles(exact)
    answer = None
    if len(text) <= program.tame_size:
        is_same = text is exact and text.isascii()
        answer = _answer_here(program, given if is_same else json.loads(_encoded(text)), scope)
    if answer is None:
        request = [program.text, program.is_input, seed, program.around, scope.moment_ms()]
        answer = _engine.ask(f"{compact(request)}\n{text}\n").decode()
    kind, rest = answer[:1], answer[1:]
    if kind == "=":
        value = read_result(rest, meant)
        doubtful = program.divides and "null" in rest and _holds_null(value)
        if doubtful and _holds_no_number(program, scope, picked, seed):
            raise Failed("Number out of range", "D1001")
        return value
    if kind == "?":
        raise Undefined
    code, why = json.loads(rest)
    if code == NOT_DATA:
        raise NotData
    if code in _LIMITS:
        raise Failed(_LIMITS[code])
    raise Failed(why, code)


def _holds_null(value: JSON) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_holds_null, value)))


def _holds_no_number(program: Program, scope: Scope, picked: Mapping[str, JSON], seed: int) -> bool:
    """Whether a null is the engine's word for ``0 / 0``, which alone does not equal itself. With
    the same ``seed`` the value is the same."""
    text, source = (_UNEQUAL.format(text=text) for text in (program.text, program.source))
    around = program.around + 2
    asking = replace(program, text=text, source=source, around=around, divides=False)
    return _evaluated(asking, scope, picked, seed) is True


def _answer_here(program: Program, given: dict[str, JSON], scope: Scope) -> str | None:
    """The answer; None when a limit is met, which is less than what the process has."""
    now_ms = scope.moment_ms() if program.looks_at_clock else 0
    try:
        answer = evaluator.outcome(program.source, given, now_ms=now_ms, limits=_LIMITS_HERE)
    except BaseException as failure:
        if type(failure).__name__ != "PanicException":  # the engine's own, which has no module
            raise
        return None
    is_limit = answer[0] == "!" and json.loads(answer[1:])[0] in _LIMITS
    return None if is_limit else answer


def _encoded(text: str) -> bytes:
    """Half a surrogate pair becomes "?", as in Java."""
    return text.encode("utf-8", "replace")


class _Engine:
    """The process, started when it is asked first, and again when an expression ended it."""

    def __init__(self, code: str = _CODE, patience_s: float = PATIENCE_S) -> None:
        self._code = code
        self._patience_s = patience_s
        self._asked_at: float | None = None
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: str) -> bytes:
        lines = _encoded(request)
        with self._lock:
            began = time.monotonic()
            # Somebody else may have ended the process, even now: a second one answers.
            for _ in range(2):
                answer = self._ask(lines)
                if answer:
                    return answer
                died = self._reap()
                if died in _DEATHS:
                    raise Failed(_DEATHS[died])
        if died == signal.SIGKILL:
            # Who watches does that, or the system when it has no memory itself.
            is_late = time.monotonic() - began > self._patience_s
            raise Failed(TIME_REACHED if is_late else MEMORY_REACHED)
        raise RuntimeError(
            f"the process that evaluates JSONata does not run: it ended with {-died}"
        )

    def _ask(self, lines: bytes) -> bytes:
        """The answer without its end of line; empty where the process ended."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        self._asked_at = time.monotonic()
        try:
            process.stdin.write(lines)
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            return b""
        except BaseException:
            process.kill()  # whoever asks next must not be given this answer
            self._reap()
            raise
        finally:
            self._asked_at = None
        return answer[:-1] if answer.endswith(b"\n") else b""

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            root = str(Path(dcf.__file__).parents[1])
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", self._code, root],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # the engine says there that it was given no memory
                env={**os.environ, "MIMALLOC_ARENA_RESERVE": "32MiB"},
                start_new_session=True,  # what a terminal sends is for the process that asks
            )
            threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()
        return self._process

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the process when an answer takes too long: it is stopped, or does not run at all."""
        while process.returncode is None:
            time.sleep(self._patience_s / 20)
            asked_at = self._asked_at
            if asked_at is not None and time.monotonic() - asked_at > self._patience_s:
                process.kill()

    def _reap(self) -> int:
        """The number of the signal that ended the process; its exit code as a negative one."""
        process, self._process = self._process, None
        assert process is not None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # what was not sent is of no use
                    pipe.close()
        return -process.wait()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            if self._process is not None:
                self._reap()

    def forget(self) -> None:
        """The process belongs to the one that this one was forked from."""
        self._lock = threading.Lock()
        self._process = None
        self._asked_at = None


_engine = _Engine()
atexit.register(_engine.close)
os.register_at_fork(after_in_child=_engine.forget)
