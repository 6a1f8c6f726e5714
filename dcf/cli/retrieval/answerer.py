"""A process that answers questions for ``dcf retrieval serve --processes``.

Messages come on stdin and go to stdout, each behind its length: first the setting, which is
answered when this process is ready, then questions. It ends when stdin does.
Texts that are to be embedded come between questions.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import pickle
import sys
from pathlib import Path
from typing import Any, BinaryIO

from starlette.responses import Response

from dcf.cli.log_lines import log_to_stderr
from dcf.cli.retrieval.opening import open_retrieval
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.memory import SYSTEM
from dcf.problem import ProblemError
from dcf.retrieval import Caller, ContextQuestion, Retrieval
from dcf.retrieval.serving import LENGTH, READY, STATUS, context_answer, refusal
from dcf.search import STORED, embedder_named

_log = logging.getLogger(__name__)

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
            runner.run(_answer_all(pickle.loads(setting), sys.stdin.buffer, answers))


async def _answer_all(setting: RetrievalSetting, questions: BinaryIO, answers: BinaryIO) -> None:
    settings = Settings.from_env(os.environ)
    log_to_stderr(settings.log_level)
    async with open_retrieval(settings, setting, SYSTEM) as retrieval:
        retrieval.items.leave_behind()
        # What is loaded now stays: the garbage collector takes 40 ms to look at it.
        gc.freeze()
        goes_on = _send(answers, READY)
        while goes_on and (message := await asyncio.to_thread(_next, questions)) is not None:
            goes_on = _send(answers, await _answered(settings, retrieval, json.loads(message)))


async def _answered(settings: Settings, retrieval: Retrieval, told: dict[str, Any]) -> bytes:
    try:
        if "texts" in told:
            return _vectors(settings.embedder, told["texts"])
        response = await _response(retrieval, told)
    # As the server answers an error that nobody foresaw: the next message may have none.
    except Exception:  # noqa: BLE001
        _log.exception("a message was not answered")
        return STATUS.pack(500) + json.dumps({"error": "Internal Server Error"}).encode()
    return STATUS.pack(response.status_code) + bytes(response.body)


def _vectors(embedder: str, texts: list[str]) -> bytes:
    """The vectors of ``texts`` as they are stored, in half of the bytes that they have here."""
    rows = embedder_named(embedder).embed(texts)
    return STATUS.pack(200) + rows.astype(STORED).tobytes()


async def _response(retrieval: Retrieval, told: dict[str, Any]) -> Response:
    asked, by = told["question"], Caller(**told["by"])
    # JSON has no tuples.
    question = ContextQuestion(**{**asked, "tags": tuple(asked["tags"])})
    try:
        return await context_answer(retrieval, question, by)
    except ProblemError as error:
        return refusal(error)


def _next(stream: BinaryIO) -> bytes | None:
    """The next message; None if there is none any more."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


def _send(stream: BinaryIO, message: bytes) -> bool:
    """Whether there is somebody who reads it."""
    try:
        stream.write(LENGTH.pack(len(message)) + message)
        stream.flush()
    except BrokenPipeError:
        # The service ended meanwhile. What the stream still holds is written when it is closed.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        return False
    return True


if __name__ == "__main__":
    main()
