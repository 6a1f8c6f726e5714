"""Reading documents in a process of its own."""

from __future__ import annotations

import asyncio
import json
import signal
import struct
import sys
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import dcf
from dcf.documents.errors import DocumentProblem, ReaderDied, TooMuchText, TooSlow
from dcf.documents.piece import ReadDocument
from dcf.documents.worker import ResourceLimits

READER = 3
"""Raised when a document is read otherwise than before: then all are read again."""

_PATIENCE = 10.0
"""How many times the processor time a document may take by the clock, which goes on where others
have the processor."""
_SIZE = struct.Struct(">Q")
_MORE = 8
"""Bytes of an answer for each character of text: JSON escapes some, and says where pieces stand."""
_CODE = """\
import sys
sys.path.insert(0, sys.argv[1])
from dcf.documents import worker
worker.main()"""


class Reader:
    """Reads one document after the other. A document that ends the process ends no other: the next
    one has a new process. To be entered with ``async with``."""

    def __init__(self, limits: ResourceLimits | None = None) -> None:
        self._limits = limits or ResourceLimits()
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._end()

    async def read(self, path: str, format: str, data: bytes) -> ReadDocument:
        """The document in ``data``, called ``path`` in its problems. Raises DocumentProblem."""
        return ReadDocument.from_json(await self._answered({"path": path, "format": format}, data))

    async def page(self, path: str, format: str, data: bytes) -> str:
        """The document in ``data``, of a format that is no text (``docx``), as HTML with a line for
        each paragraph, nothing hidden. Raises DocumentProblem."""
        about = {"path": path, "format": format, "as": "page"}
        return str((await self._answered(about, data))["page"])

    async def _answered(self, asked: dict[str, str], data: bytes) -> dict[str, Any]:
        about = json.dumps(asked).encode() + b"\n"
        process = self._process or await self._start()
        try:
            async with asyncio.timeout(_PATIENCE * self._limits.seconds):
                answer = await self._asked(process, about, data)
        except TimeoutError:
            await self._end()
            raise TooSlow(seconds=self._limits.seconds) from None
        except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError):
            raise await self._death(process) from None
        except BaseException:
            # Half a request, or an answer that nobody took: this process is asked nothing more.
            await self._end()
            raise
        if "refused" in answer:
            raise _refusal(*answer["refused"])
        return answer

    async def _asked(
        self, process: asyncio.subprocess.Process, about: bytes, data: bytes
    ) -> dict[str, Any]:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(_SIZE.pack(len(about) + len(data)) + about)
        process.stdin.write(data)
        await process.stdin.drain()
        (size,) = _SIZE.unpack(await process.stdout.readexactly(_SIZE.size))
        if size > _MORE * self._limits.characters + 1_000_000:
            raise TooMuchText(most=self._limits.characters)
        answer: dict[str, Any] = json.loads(await process.stdout.readexactly(size))
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        root = str(Path(dcf.__file__).parents[1])
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-c", _CODE, root, json.dumps(asdict(self._limits))),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            # Nothing of ours: what goes wrong in a parser finds no token there.
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
        return self._process

    async def _death(self, process: asyncio.subprocess.Process) -> DocumentProblem:
        status = await process.wait()
        self._process = None
        if -status == signal.SIGPROF:
            return TooSlow(seconds=self._limits.seconds)
        cause = signal.Signals(-status).name if status < 0 else f"it ended with {status}"
        return ReaderDied(cause=cause, megabytes=self._limits.megabytes)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


def _refusal(code: str, message: str, hint: str) -> DocumentProblem:
    """The problem that the other process found."""
    error = DocumentProblem()
    error.code, error.hint, error.args = code, hint, (message,)
    return error
