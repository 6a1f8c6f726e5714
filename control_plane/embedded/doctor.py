"""Findings about this machine: what the embedded server needs, and whether it is there."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from control_plane.embedded.binaries import FALKORDB, REDIS_SERVER, REJSON, Binary, remedy, require
from control_plane.embedded.check import Check
from control_plane.embedded.endpoint import SOCKET_PATH_LIMIT, socket_path
from control_plane.embedded.errors import BinariesMissing, ServerUnsuitable
from control_plane.embedded.home import data_home, runtime_folder
from control_plane.embedded.server_check import check_server
from control_plane.embedded.spec import CONTROL_PLANE

_OLDEST_PYTHON = (3, 11)
_SPARE_BYTES = 1024**3
_RUN_TIMEOUT_S = 20.0
# Loads a module the way the server will, in a process that may die of it.
_LOADER = "import ctypes, sys; ctypes.CDLL(sys.argv[1], mode=1)"


async def diagnose(env: Mapping[str, str]) -> list[Check]:
    """All findings, good and bad. Starts no server; writes one small file and removes it.

    With ``DCF_REDIS_URL`` set, that server is examined and the bundled one is not required.
    """
    url = env.get("DCF_REDIS_URL")
    embedded = url is None or url == ""
    home = data_home(env)
    checks = [_python()]
    if not embedded:
        checks.append(await _configured(str(url)))
    checks += [_wheel(binary, required=embedded) for binary in (REDIS_SERVER, REJSON)]
    checks.append(await _server_starts(required=embedded))
    checks.append(await _module_loads(REJSON, required=embedded))
    checks.append(await _module_loads(FALKORDB, required=False))
    checks += [_writable(home), _disk(home), _socket(home, runtime_folder(env))]
    return checks


def _python() -> Check:
    found = ".".join(str(part) for part in sys.version_info[:3])
    wanted = ".".join(str(part) for part in _OLDEST_PYTHON)
    ok = sys.version_info[:2] >= _OLDEST_PYTHON
    return Check("python", ok, found, "" if ok else f"DCF needs Python {wanted} or newer.")


async def _configured(url: str) -> Check:
    """The server the user named."""
    try:
        report = await check_server(url)
    except ServerUnsuitable as error:
        return Check("DCF_REDIS_URL", False, error.message, error.hint)
    found = f"{report.server}: Redis {report.version}, JSON {report.json_version}"
    if not report.concerns:
        return Check("DCF_REDIS_URL", True, found)
    worries = "; ".join(f"{concern.name} is {concern.found}" for concern in report.concerns)
    hints = "; ".join(concern.hint for concern in report.concerns)
    return Check("DCF_REDIS_URL", False, f"{found}; {worries}", hints, required=False)


def _wheel(binary: Binary, *, required: bool) -> Check:
    name = f"wheel {binary.distribution}"
    try:
        found = version(binary.distribution)
    except PackageNotFoundError:
        return Check(name, False, "not installed", remedy([binary]), required)
    return Check(name, True, found)


async def _server_starts(*, required: bool) -> Check:
    """Proves the program, its libraries and its mode bits in one go."""
    name = "redis-server starts"
    try:
        program = require(REDIS_SERVER)[0]
    except BinariesMissing as error:
        return Check(name, False, error.message, error.hint, required)
    code, output = await _run(str(program), "--version")
    if code == 0:
        return Check(name, True, output)
    return Check(name, False, output, _libraries_hint(output), required)


async def _module_loads(binary: Binary, *, required: bool) -> Check:
    file = Path(binary.inner_path).name
    name = f"{file} loads"
    try:
        path = require(binary)[0]
    except BinariesMissing as error:
        return Check(name, False, error.message, error.hint, required)
    code, output = await _run(sys.executable, "-c", _LOADER, str(path))
    if code == 0:
        return Check(name, True, "its shared libraries are all there")
    return Check(name, False, output.splitlines()[-1], _libraries_hint(output), required)


def _libraries_hint(output: str) -> str:
    """The Debian package for the library that the loader missed."""
    packages = {"libssl": "libssl3", "libcrypto": "libssl3", "libgomp": "libgomp1"}
    wanted = sorted({package for part, package in packages.items() if part in output})
    if wanted:
        return f"apt-get install {' '.join(wanted)} (or your distribution's package)."
    if "GLIBC" in output:
        return "This system is too old for the wheel: Debian 12, Ubuntu 22.04 or newer is needed."
    return "Install the library named here, or use your own Redis with DCF_REDIS_URL."


def _writable(home: Path) -> Check:
    """Tried, not asked: quotas and read-only mounts do not show in mode bits."""
    place = _existing(home)
    probe = place / f".dcf-doctor-{os.getpid()}"
    try:
        probe.write_bytes(b"dcf")
        probe.unlink()
    except OSError as error:
        hint = "Choose another folder with DCF_HOME."
        return Check("data folder writable", False, f"{place}: {error.strerror}", hint)
    return Check("data folder writable", True, str(home))


def _disk(home: Path) -> Check:
    free = shutil.disk_usage(_existing(home)).free
    found = f"{free / _SPARE_BYTES:.1f} GiB free"
    if free >= _SPARE_BYTES:
        return Check("disk space", True, found)
    return Check("disk space", False, found, "Redis stops writing when the disk is full.")


def _socket(home: Path, runtime: Path | None) -> Check:
    """A long path is no failure: the server then listens elsewhere."""
    path = socket_path(home / CONTROL_PLANE.folder, runtime)
    if path is not None:
        return Check("socket path", True, f"{path} ({len(os.fsencode(path))} bytes)")
    found = f"longer than {SOCKET_PATH_LIMIT} bytes below {home}: a loopback port is used instead"
    return Check("socket path", False, found, "A shorter DCF_HOME is faster.", required=False)


def _existing(folder: Path) -> Path:
    """``folder`` or the nearest of its parents that exists."""
    return next(place for place in (folder, *folder.parents) if place.is_dir())


async def _run(*command: str) -> tuple[int, str]:
    """Exit status and output, both streams together; 124 when it takes too long."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(_RUN_TIMEOUT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return 124, f"no answer within {_RUN_TIMEOUT_S:g} s"
    return process.returncode or 0, output.decode(errors="replace").strip()
