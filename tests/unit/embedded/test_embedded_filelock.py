"""Locks that the kernel gives back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from control_plane.embedded.filelock import is_locked, lock, locked, try_lock

HOLD = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print('held'); input()"


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    first = try_lock(tmp_path / "lock")
    assert first is not None
    assert try_lock(tmp_path / "lock") is None
    os.close(first)
    again = try_lock(tmp_path / "lock")
    assert again is not None
    os.close(again)


def test_asking_takes_nothing_away(tmp_path: Path) -> None:
    assert is_locked(tmp_path / "lock") is False
    held = try_lock(tmp_path / "lock")
    assert held is not None
    assert is_locked(tmp_path / "lock") is True
    os.close(held)
    assert is_locked(tmp_path / "lock") is False


def test_askers_do_not_mistake_one_another_for_a_holder(tmp_path: Path) -> None:
    asker = try_lock(tmp_path / "lock", shared=True)
    assert asker is not None
    assert is_locked(tmp_path / "lock") is False
    os.close(asker)


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert is_locked(tmp_path / "lock") is True
        holder.kill()
    assert is_locked(tmp_path / "lock") is False


async def test_patience_ends(tmp_path: Path) -> None:
    held = try_lock(tmp_path / "lock")
    assert held is not None
    with pytest.raises(TimeoutError):
        await lock(tmp_path / "lock", 0.05)
    os.close(held)


async def test_the_block_gives_its_lock_back_even_when_it_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with locked(tmp_path / "lock", 1):
            raise ZeroDivisionError
    assert is_locked(tmp_path / "lock") is False
