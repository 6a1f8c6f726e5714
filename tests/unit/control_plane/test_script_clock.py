"""Scripts know one clock, the server's; a test or simulation compiles another line."""

from __future__ import annotations

from importlib import resources

import pytest

from control_plane import script

NAMES = sorted(
    entry.name.removesuffix(".lua")
    for entry in (resources.files("control_plane") / "scripts").iterdir()
    if entry.name.endswith(".lua") and not entry.name.endswith("prelude.lua")
)
LINE = "local TIME = redis.call('TIME')"


def test_all_transitions_are_there() -> None:
    assert NAMES == [
        "acquire", "beat", "bill", "blob", "cancel", "claim", "close", "commit", "condemn",
        "enlist", "finalize", "gc", "keep", "leave", "list", "move", "note", "recall",
        "record_change", "record_create", "record_delete", "redrive", "release", "renew", "reserve",
        "restore", "seed", "settle", "signal", "tell", "tick", "told", "turn",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_production_text_reads_the_time_once_and_only_from_the_server(name: str) -> None:
    source = script.load(name).source
    assert source.count("'TIME'") == 1
    assert source.count(LINE) == 1
    for other in ("os.time", "os.clock", "os.date", "REQ.now"):
        assert other not in source


@pytest.mark.parametrize("name", NAMES)
def test_another_clock_changes_that_line_and_nothing_else(name: str) -> None:
    production = script.load(name)
    virtual = production.with_clock("test:clock")
    before, after = production.source.splitlines(), virtual.source.splitlines()
    changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert changed == [
        (LINE, "local TIME = redis.call('HMGET', 'test:clock', 'seconds', 'microseconds')")
    ]
    assert virtual.name == name
    assert virtual.sha1 != production.sha1


@pytest.mark.parametrize("key", ["", "a'b", "a\nb", "a b", "]]"])
def test_a_clock_key_cannot_carry_lua(key: str) -> None:
    with pytest.raises(ValueError):
        script.load("commit").with_clock(key)


def test_a_text_without_the_clock_line_is_refused() -> None:
    with pytest.raises(ValueError):
        script.Script("x", "return 1").with_clock("k")
