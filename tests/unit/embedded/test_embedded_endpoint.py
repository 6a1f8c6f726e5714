"""Where a server listens depends on how long its folder's path is."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from redis.connection import parse_url

from control_plane.embedded.endpoint import (
    SOCKET_PATH_LIMIT,
    Endpoint,
    choose_endpoint,
    socket_path,
)

SHORT = Path("/data/redis")
LONG = Path("/data") / ("x" * 120) / "redis"
FOLDERS = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1)


def test_a_short_path_takes_the_socket() -> None:
    assert choose_endpoint(SHORT, None) == Endpoint(socket=SHORT / "redis.sock")


def test_the_limit_counts_bytes_and_is_reached_exactly() -> None:
    def padded(length: int) -> Path:
        return Path("/" + "y" * (length - len("//redis.sock")))

    assert socket_path(padded(SOCKET_PATH_LIMIT), None) is not None
    assert socket_path(padded(SOCKET_PATH_LIMIT + 1), None) is None
    assert socket_path(Path("/" + "ü" * 50), None) is None


def test_a_long_path_moves_the_socket_to_the_runtime_folder(tmp_path: Path) -> None:
    here = socket_path(LONG, Path("/run/user/1000"))
    other = socket_path(LONG / "other", Path("/run/user/1000"))
    assert here is not None
    assert here.parent == Path("/run/user/1000")
    assert here == socket_path(LONG, Path("/run/user/1000"))
    assert here != other


def test_without_a_runtime_folder_a_long_path_takes_a_port_with_a_password() -> None:
    first, second = choose_endpoint(LONG, None), choose_endpoint(LONG, None)
    assert first.socket is None
    assert 1024 <= first.port <= 65535
    assert len(first.password) >= 32
    assert first.password != second.password
    assert first.password not in repr(first)
    assert ("bind", "127.0.0.1") in first.directives()


@given(FOLDERS)
def test_redis_py_reads_any_socket_path_back_from_the_url(name: str) -> None:
    path = Path("/") / name / "redis.sock"
    assert parse_url(Endpoint(socket=path).url)["path"] == os.fspath(path)
