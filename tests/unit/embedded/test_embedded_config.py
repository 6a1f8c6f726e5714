"""The redis.conf says what the guarantees need."""

from __future__ import annotations

from pathlib import Path

import pytest

from control_plane.embedded.config import render_config
from control_plane.embedded.endpoint import Endpoint
from control_plane.embedded.spec import Fsync

SOCKET = Endpoint(socket=Path("/d/redis.sock"))


def lines(endpoint: Endpoint = SOCKET, folder: str = "/d", fsync: Fsync = "everysec") -> list[str]:
    modules = [(Path("/m/rejson.so"), ()), (Path("/m/falkordb.so"), ("TIMEOUT_MAX", "9"))]
    return render_config(Path(folder), endpoint, modules, fsync).splitlines()


def test_every_write_goes_to_the_append_only_file_and_nothing_is_evicted() -> None:
    assert {
        'appendonly "yes"',
        'appendfsync "everysec"',
        'aof-load-truncated "yes"',
        'save ""',
        'maxmemory-policy "noeviction"',
    } <= set(lines())


def test_fsync_always_is_one_setting_away() -> None:
    assert 'appendfsync "always"' in lines(fsync="always")


def test_a_socket_shuts_the_port() -> None:
    assert {'port "0"', 'unixsocket "/d/redis.sock"', 'unixsocketperm "700"'} <= set(lines())


def test_a_port_is_on_loopback_and_wants_a_password() -> None:
    text = lines(Endpoint(port=7001, password="secret"))
    assert {'bind "127.0.0.1"', 'port "7001"', 'requirepass "secret"'} <= set(text)
    assert not any(line.startswith("unixsocket") for line in text)


def test_modules_are_loaded_in_order_with_their_arguments() -> None:
    loads = [line for line in lines() if line.startswith("loadmodule")]
    assert loads == [
        'loadmodule "/m/rejson.so"',
        'loadmodule "/m/falkordb.so" "TIMEOUT_MAX" "9"',
    ]


@pytest.mark.parametrize(
    ("folder", "line"),
    [
        ("/my data", 'dir "/my data"'),
        ('/a"b', 'dir "/a\\"b"'),
        ("/a\\b", 'dir "/a\\\\b"'),
        ("/a\nappendonly no", 'dir "/a\\nappendonly no"'),
    ],
)
def test_a_path_cannot_break_out_of_its_line(folder: str, line: str) -> None:
    assert line in lines(folder=folder)
