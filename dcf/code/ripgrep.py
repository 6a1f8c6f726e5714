"""Calls of ripgrep: without a shell, with bounds on its time and on what it says."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from dcf.code.errors import RipgrepFailed, RipgrepMissing

_SECONDS = 60.0
_CHUNK = 65_536
_SAID = 2_000
"""Bytes of its complaints that are kept."""
_FOUND, _NOTHING = 0, 1
# A configuration of the user must not change what is found; files are read as they are.
_ALWAYS = ("--no-config", "--no-messages", "--color=never")


def ripgrep() -> Path:
    """The program of the package ``ripgrep``, beside this Python, else the one on the PATH. Raises
    ``RipgrepMissing``."""
    beside = Path(sys.executable).with_name("rg.exe" if sys.platform == "win32" else "rg")
    if beside.is_file():
        return beside
    found = shutil.which("rg")
    if found is None:
        raise RipgrepMissing(path=beside)
    return Path(found)


async def records(
    arguments: Sequence[str], folder: Path, *, end: bytes, most: int
) -> tuple[list[bytes], bool]:
    """What ripgrep prints in ``folder``, cut at each ``end``: ``most`` records, and whether there
    were more. Raises ``RipgrepMissing``, ``RipgrepFailed``."""
    async with _running(arguments, folder) as process:
        assert process.stdout is not None and process.stderr is not None
        complaints = asyncio.create_task(_some(process.stderr))
        try:
            async with asyncio.timeout(_SECONDS):
                found, more = await _cut(process.stdout, end, most)
                if more:
                    return found, True
                status, said = await process.wait(), await complaints
        except TimeoutError as error:
            raise RipgrepFailed(reason=f"it had not ended after {_SECONDS:g} s") from error
        finally:
            complaints.cancel()
    # It is 2 also where one of the files could not be read: then it found the rest.
    if status not in (_FOUND, _NOTHING) and said:
        raise RipgrepFailed(reason=said)
    return found, False


@asynccontextmanager
async def _running(
    arguments: Sequence[str], folder: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The program, which does not live longer than the block."""
    try:
        process = await asyncio.create_subprocess_exec(
            ripgrep(),
            *_ALWAYS,
            *arguments,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise RipgrepFailed(reason=str(error)) from error
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _cut(stream: asyncio.StreamReader, end: bytes, most: int) -> tuple[list[bytes], bool]:
    found: list[bytes] = []
    rest = b""
    while chunk := await stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split(end)
        found += whole
        if len(found) > most:
            return found[:most], True
    return found, False


async def _some(stream: asyncio.StreamReader) -> str:
    """The beginning of what it complains of; the rest is read too, or it would wait for us."""
    said = b""
    while chunk := await stream.read(_CHUNK):
        said = (said + chunk)[:_SAID]
    return said.decode("utf-8", "replace").strip()
