"""Processes that answer questions, beside the one that listens and writes."""

from __future__ import annotations

import asyncio
import json
import logging
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from typing import Self

from starlette.responses import Response

from dcf.late_numpy import np
from dcf.retrieval.audit_log import Caller
from dcf.retrieval.errors import AnswerersFailed
from dcf.retrieval.question import ContextQuestion
from dcf.search import STORED, Vectors
from dcf.stopping import stop

_log = logging.getLogger(__name__)

LENGTH = struct.Struct(">I")
"""Before each message: how many bytes it has."""
STATUS = struct.Struct(">H")
"""An answer begins with its status of HTTP; its body follows."""
READY = b"ready"
_TEXTS = 32
"""Those that are embedded in one go: some 5 ms."""
_DEATHS = 3
"""Where at each place so many processes end, one after another without an answer, and none is
ready, all of it has failed."""
_TRIES = 2
"""Processes that one question may end."""
_AGAIN_S = 0.5
"""Between a process that did not start and the next try; each further wait is twice as long."""
_LONGEST_AGAIN_S = 30.0
_PATIENCE_S = 300.0
"""How long a process has to get ready, or for an answer: the first question about 1,000,000 items
in files took 117 s."""
_END_S = 10.0
"""How long a process has for what it is at when the service ends."""


class _Lost(Exception):
    """The process ended, or was ended because it took too long."""


class _Answerer:
    """One process, which answers one question at a time and has ``patience_s`` for it."""

    def __init__(self, process: asyncio.subprocess.Process, patience_s: float) -> None:
        self.process = process
        self.answers = 0
        self._patience_s = patience_s
        self._coming: int | None = None

    @classmethod
    async def start(cls, command: Sequence[str], patience_s: float) -> Self:
        """A process that is not set up yet. Raises OSError."""
        pipe = asyncio.subprocess.PIPE
        # Ctrl-C is for the one that listens: it lets what is asked be answered first.
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, start_new_session=True
        )
        return cls(process, patience_s)

    async def set_up(self, setting: bytes) -> None:
        """Tell it the setting, and wait until it is ready. Raises _Lost."""
        try:
            await self._exchanged(setting)
        except _Lost:
            await self.end(0.0)
            raise

    @property
    def is_there(self) -> bool:
        return self.process.returncode is None

    async def answer(self, question: bytes) -> bytes:
        """Raises _Lost. Cancelled, the answer is still to come (``rest``)."""
        answered = await self._exchanged(question)
        self.answers += 1
        return answered

    async def rest(self) -> None:
        """Read the answer that somebody did not wait for. Raises _Lost."""
        await self._exchanged(None)
        self.answers += 1

    async def end(self, patience_s: float) -> None:
        """Let it end what it is at; it ends of itself when nobody can ask any more."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), patience_s)
        except TimeoutError:
            self._kill()
            await self.process.wait()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()

    async def _exchanged(self, message: bytes | None) -> bytes:
        """The answer to ``message``; None where it was sent before."""
        into = self.process.stdin
        assert into is not None
        try:
            async with asyncio.timeout(self._patience_s):
                if message is not None:
                    into.write(LENGTH.pack(len(message)) + message)
                    await into.drain()
                return await self._read()
        except TimeoutError as error:
            _log.warning("process %d took longer than %g s", self.process.pid, self._patience_s)
            self._kill()
            raise _Lost from error
        except (OSError, asyncio.IncompleteReadError) as error:
            raise _Lost from error

    async def _read(self) -> bytes:
        """What comes next, also where this was cancelled in the middle of it."""
        out = self.process.stdout
        assert out is not None
        if self._coming is None:
            (self._coming,) = LENGTH.unpack(await out.readexactly(LENGTH.size))
        message = await out.readexactly(self._coming)
        self._coming = None
        return message


class Answerers:
    """``count`` processes by ``command``, each of which is told ``setting`` first. One that ends,
    or takes longer than ``patience_s``, is replaced; its question is asked again, once. Where none
    is ready, and at each place ``_DEATHS`` in a row ended without an answer or did not start, there
    is a ``failure``, and ``on_failure`` is called."""

    def __init__(
        self,
        command: Sequence[str],
        setting: bytes,
        count: int,
        on_failure: Callable[[], object],
        *,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._command = command
        self._setting = setting
        self._count = count
        self._on_failure = on_failure
        self._patience_s = patience_s
        self._all: dict[int, _Answerer] = {}
        self._ready: set[int] = set()
        self._deaths = [0] * count
        self._free: asyncio.Queue[_Answerer | None] = asyncio.Queue()
        self._keeping: list[asyncio.Task[None]] = []
        self._reading: set[asyncio.Task[None]] = set()
        self.failure: AnswerersFailed | None = None

    async def __aenter__(self) -> Self:
        """All of them are ready. Raises AnswerersFailed."""
        places = range(self._count)
        started = await asyncio.gather(*map(self._start, places), return_exceptions=True)
        if any(isinstance(one, BaseException) for one in started):
            await self._end()
            raise AnswerersFailed(how="it did not start")
        self._keeping = [asyncio.create_task(self._keep(place)) for place in places]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Raises the ``failure`` there was."""
        await stop(*self._keeping)
        await self._end()
        if self.failure is not None:
            raise self.failure

    async def answer(self, question: ContextQuestion, by: Caller) -> Response:
        """The answer of the first process that has time, to a question that ``by`` asks. Raises
        AnswerersFailed."""
        told = json.dumps({"question": asdict(question), "by": asdict(by)}).encode()
        status, body = await self._asked(told)
        return Response(body, status_code=status, media_type="application/json")

    async def vectors(self, texts: Sequence[str]) -> Vectors:
        """The vectors of ``texts``, one a row, none of none, made by the first process that has
        time, a few at a time: a question that comes meanwhile goes before the rest. Raises
        AnswerersFailed."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        each = [texts[start : start + _TEXTS] for start in range(0, len(texts), _TEXTS)]
        return np.concatenate([await self._vectors(some) for some in each])

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        status, body = await self._asked(json.dumps({"texts": texts}).encode())
        if status != HTTPStatus.OK:
            raise AnswerersFailed(how="it could not embed what was logged")
        return np.frombuffer(body, STORED).reshape(len(texts), -1).astype(np.float32)

    async def _asked(self, message: bytes) -> tuple[int, bytes]:
        for _ in range(_TRIES):
            one = await self._next()
            try:
                answered = await one.answer(message)
            except _Lost:
                continue
            except asyncio.CancelledError:
                # Whoever asked went away: the answer is read all the same, else the next gets it.
                reading = asyncio.create_task(self._read_rest(one))
                self._reading.add(reading)
                reading.add_done_callback(self._reading.discard)
                raise
            self._free.put_nowait(one)
            (status,) = STATUS.unpack_from(answered)
            return status, answered[STATUS.size :]
        raise AnswerersFailed(how=f"{_TRIES} of them ended over this question")

    async def _read_rest(self, one: _Answerer) -> None:
        with suppress(_Lost):
            await one.rest()
            self._free.put_nowait(one)

    async def _next(self) -> _Answerer:
        while True:
            one = await self._free.get()
            if one is None:
                self._free.put_nowait(None)  # for the others who wait
                assert self.failure is not None
                raise self.failure
            if one.is_there:
                return one

    async def _keep(self, place: int) -> None:
        """Replace the process at ``place`` whenever it ends."""
        one: _Answerer | None = self._all[place]
        while True:
            if one is None:
                self._deaths[place] += 1
            else:
                self._ready.add(place)
                self._free.put_nowait(one)
                status = await one.process.wait()
                self._ready.discard(place)
                self._deaths[place] = 1 if one.answers else self._deaths[place] + 1
                pid = one.process.pid
                _log.warning("process %d, which answered questions, ended (%d)", pid, status)
            if not self._ready and min(self._deaths) >= _DEATHS:
                break
            if one is None or self._deaths[place] >= _DEATHS:
                await asyncio.sleep(_wait_s(self._deaths[place]))
            one = await self._replaced(place)
        where = "" if self._count == 1 else ", at each place"
        self.failure = AnswerersFailed(how=f"{_DEATHS} did, one after another{where}")
        self._free.put_nowait(None)
        self._on_failure()

    async def _replaced(self, place: int) -> _Answerer | None:
        """The next process at ``place``; None if it did not start."""
        try:
            one = await self._start(place)
        except (_Lost, OSError) as error:
            why = error if isinstance(error, OSError) else "it ended before it was ready"
            _log.warning("no process answers in its place: %s", why)
            return None
        _log.warning("process %d answers in its place", one.process.pid)
        return one

    async def _start(self, place: int) -> _Answerer:
        """Raises _Lost, OSError."""
        one = self._all[place] = await _Answerer.start(self._command, self._patience_s)
        await one.set_up(self._setting)
        return one

    async def _end(self) -> None:
        await asyncio.gather(*(one.end(_END_S) for one in self._all.values()))


def _wait_s(deaths: int) -> float:
    """Before the next process at a place where so many ended without an answer."""
    return float(min(_AGAIN_S * 2 ** min(deaths - 1, 10), _LONGEST_AGAIN_S))
