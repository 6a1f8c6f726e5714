"""The process that evaluates JSONata: what hangs there, or takes all memory, is ended with it.

The engine counts steps and depth, but not what happens inside one step: walking sixty arrays, each
twice in the next one, never ends, and nothing in the process can stop it. So the system does: it
gives this process so much memory, and each evaluation so much processor time.

Two lines of its input are a request and its data, the next line of its output is the answer: ``=``
and the result, ``?`` for an undefined one, ``!`` and the code and text of an error.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Any, TypeAlias

import jlens

from dcf.asl.jsonata.functions import FunctionError, NotData, TooBig, implementations

STEP_LIMIT = 10_000_000
"""Steps of the engine: about a second on a machine of today. The same on every machine."""

TIME_LIMIT_S = 2.0
"""Seconds of processor time, for what is slow inside one step. Not of the wall clock: a worker that
has to wait for a processor must fail no expression."""

MEMORY_LIMIT = 600_000_000
"""Bytes of this process, its program included."""

DEPTH_LIMIT = 100
"""How deep an expression may nest while it is evaluated, as in Step Functions."""

VALUE_LIMIT = 6_990_256
"""Bytes that one value may hold, a number counting 8 and a character 1, as in Step Functions."""

RESULT_LIMIT = 3 * VALUE_LIMIT
"""Bytes of JSON text that a result may have: a number takes up to 24."""

Limits: TypeAlias = Mapping[str, Any]

LIMITS: Limits = {
    "max_steps": STEP_LIMIT,
    "max_string_length": VALUE_LIMIT,
    "max_array_length": VALUE_LIMIT // 8,
    "max_result_size": RESULT_LIMIT,
}
"""What the engine counts itself."""

NOT_DATA = "not data"
TOO_BIG = "too big"
"""Error codes of our own, in addition to those of JSONata."""

_rng = Random()


def main() -> None:
    """Answer until nobody asks any more."""
    _set_limits()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    for line in requests:
        try:
            answer = _answer(line, requests.readline())
        except Exception:
            raise
        except BaseException:  # noqa: BLE001 - a panic of the engine, it has no memory
            os.abort()
        answers.write(answer + b"\n")
        answers.flush()


def _set_limits() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A system without such a limit (macOS) has the others.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def _answer(request: bytes, data: bytes) -> bytes:
    text, is_input, seed, around, now_ms = json.loads(request)
    _rng.seed(seed)
    try:
        # The system ends this process when the time is up.
        signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT_S)
        return outcome(
            text,
            {"eval": None} if is_input else json.loads(data),
            input=data.decode() if is_input else None,
            seed=seed,
            around=around,
            now_ms=now_ms,
        ).encode()
    except MemoryError:
        return _failure(TOO_BIG, "").encode()
    except RecursionError:  # whoever asked may have a smaller stack
        return _failure("D1011", "").encode()
    finally:
        # What is left of the time is not taken for reading the next request.
        signal.setitimer(signal.ITIMER_PROF, 0)


def outcome(text: str, bindings: dict[str, Any], **options: Any) -> str:
    """The answer to a request: ``=`` and the result as JSON text, ``?`` or ``!`` and an error."""
    try:
        result = evaluate(text, bindings, **options)
    except (jlens.JlensError, FunctionError) as error:
        return _failure(error.code, str(error))
    except ValueError:  # data that nests deeper than the engine reads
        return _failure("D1011", "")
    except NotData:
        return _failure(NOT_DATA, "")
    except TooBig:
        return _failure(TOO_BIG, "")
    return "?" if result is None else f"={result}"


def evaluate(
    text: str,
    bindings: dict[str, Any],
    *,
    input: str | None = None,
    seed: int = 0,
    around: int = 0,
    now_ms: int = 0,
    limits: Limits = LIMITS,
) -> str | None:
    """The result as JSON text, None when it is undefined.

    ``input`` is the context item, of which Step Functions has none: an expression that reads none
    is given its data in it, which the engine reads faster than ``bindings``.
    """
    return _compiled(text).evaluate_json(
        input, bindings, max_depth=DEPTH_LIMIT + around, now=now_ms, seed=seed, **limits
    )


def _failure(code: str, text: str) -> str:
    return "!" + json.dumps([code, text])


@lru_cache(maxsize=2048)
def _compiled(text: str) -> jlens.Expression:
    expression = jlens.Expression(text)
    for name, (apply, signature) in implementations(_rng).items():
        if f"${name}" in text:  # each one costs a microsecond
            expression.register_function(name, apply, signature)
    return expression


if __name__ == "__main__":
    main()
