"""Where the stub tool server of a home can be called, and where it must not be looked for."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dcf.cli.background import BackgroundFolder
from dcf.cli.settings import Settings
from dcf.cli.stub_server import StubServer
from dcf.cli.trouble import EnvironmentTrouble
from dcf.tools import NO_STUB

AT = "http://127.0.0.1:4711"
READY = f"""echo '{{"event": "ready", "url": "{AT}"}}'; exec sleep 60"""


def settings_of(home: Path, **env: str) -> Settings:
    return Settings.from_env({"DCF_HOME": str(home), "PATH": os.environ["PATH"], **env})


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[BackgroundFolder]:
    """Of a home whose background processes end with the test."""
    folder = BackgroundFolder(tmp_path / "run", tmp_path / "logs")
    yield folder
    for process in folder.all():
        await folder.stop(process, 5)


async def test_a_stub_is_called_where_it_runs_and_nowhere_while_it_does_not(
    tmp_path: Path, folder: BackgroundFolder
) -> None:
    settings = settings_of(tmp_path)
    stub = StubServer(settings, folder)
    assert stub.url_now() == NO_STUB
    process = await folder.start(stub.name, ["sh", "-c", READY], settings.env)
    assert stub.url_now() == AT
    await folder.stop(process, 5)
    # The note of it is there still, and a stranger may have the port.
    assert (stub.url, stub.url_now()) == (AT, NO_STUB)


async def test_what_the_user_set_holds_whatever_runs(
    tmp_path: Path, folder: BackgroundFolder
) -> None:
    settings = settings_of(tmp_path, DCF_STUB_URL="http://stubs.example:1/")
    assert StubServer(settings, folder).url_now() == "http://stubs.example:1"


async def test_while_a_stub_starts_nobody_is_sent_to_where_the_one_before_it_was(
    tmp_path: Path, folder: BackgroundFolder
) -> None:
    settings = settings_of(tmp_path)
    stub = StubServer(settings, folder)
    await folder.stop(await folder.start(stub.name, ["sh", "-c", READY], settings.env), 5)
    up, go = tmp_path / "up", tmp_path / "go"
    slow = f"touch '{up}'; while [ ! -e '{go}' ]; do sleep 0.01; done; {READY}"
    starting = asyncio.create_task(folder.start(stub.name, ["sh", "-c", slow], settings.env))
    async with asyncio.timeout(30):
        while not up.exists():
            await asyncio.sleep(0.01)
        assert stub.url_now() == NO_STUB
        go.touch()
        await starting
    assert stub.url_now() == AT


async def test_who_looks_whether_a_stub_runs_does_not_keep_it_from_starting(
    tmp_path: Path, folder: BackgroundFolder
) -> None:
    settings = settings_of(tmp_path)
    command = ["sh", "-c", READY]
    (tmp_path / "run").mkdir()
    looking = os.open(tmp_path / "run" / "stub-1.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    asyncio.get_running_loop().call_later(0.05, os.close, looking)
    await folder.start("stub-1", command, settings.env)
    with pytest.raises(EnvironmentTrouble, match="is being started"):
        await folder.start("stub-1", command, settings.env)
    assert folder.find("stub-1") is not None
