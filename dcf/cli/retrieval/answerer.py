"""A process that answers questions for ``dcf retrieval serve --processes``.

Messages come on stdin and go to stdout, each behind its length: first the setting, which is
answered when this process is ready, then questions. It ends when stdin does. One of these
processes, with ``KEEP_UP``, has new items found by their meaning too, where no question waits.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import sys
from typing import Any, BinaryIO

from dcf.cli.log_lines import log_to_stderr
from dcf.cli.retrieval.opening import open_retrieval
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.memory import SYSTEM
from dcf.problem import ProblemError
from dcf.retrieval import Caller, ContextQuestion, Retrieval
from dcf.retrieval.serving import LENGTH, READY, STATUS, context_answer, refusal
from dcf.stopping import stop

_log = logging.getLogger(__name__)

KEEP_UP = "--keep-up"
SWITCH_S = 0.001
"""After so long a thread that computes lets another one go on. Each answer passes through several
threads, and at Python's 5 ms would wait as long for each."""


def main() -> None:
    """Answer until nobody asks any more."""
    from uvloop import new_event_loop

    sys.setswitchinterval(SWITCH_S)
    # The old stdout has answers alone: what a library prints goes to stderr.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    setting = _next(sys.stdin.buffer)
    if setting is not None:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            # The pickle is of the process that started this one, and of nobody else.
            runner.run(
                _answer_all(
                    pickle.loads(setting), sys.stdin.buffer, answers, keeps_up=KEEP_UP in sys.argv
                )
            )


async def _answer_all(
    setting: RetrievalSetting, questions: BinaryIO, answers: BinaryIO, *, keeps_up: bool
) -> None:
    settings = Settings.from_env(os.environ)
    log_to_stderr(settings.log_level)
    async with open_retrieval(settings, setting, SYSTEM) as retrieval:
        retrieval.items.leave_behind()
        keeping = asyncio.create_task(retrieval.items.keep_up()) if keeps_up else None
        try:
            _send(answers, READY)
            while (question := await asyncio.to_thread(_next, questions)) is not None:
                _send(answers, await _answered(retrieval, json.loads(question)))
        finally:
            if keeping is not None:
                await stop(keeping)


async def _answered(retrieval: Retrieval, told: dict[str, Any]) -> bytes:
    asked, by = told["question"], Caller(**told["by"])
    # JSON has no tuples.
    question = ContextQuestion(**{**asked, "tags": tuple(asked["tags"])})
    try:
        response = await context_answer(retrieval, question, by)
    except ProblemError as error:
        response = refusal(error)
    # As the server answers an error that nobody foresaw: the next question may have none.
    except Exception:  # noqa: BLE001
        _log.exception("a question was not answered")
        return STATUS.pack(500) + json.dumps({"error": "Internal Server Error"}).encode()
    return STATUS.pack(response.status_code) + bytes(response.body)


def _next(stream: BinaryIO) -> bytes | None:
    """The next message; None if there is none any more."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


def _send(stream: BinaryIO, message: bytes) -> None:
    stream.write(LENGTH.pack(len(message)) + message)
    stream.flush()


if __name__ == "__main__":
    main()
