"""With a key the memory can be read by nobody who has not got it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    CipherMissing,
    Memory,
    MemoryCorrupt,
    MemoryInUse,
    MemoryKey,
    MemoryProblem,
    NewAgent,
    NewBlock,
    Source,
    UnusableKey,
    rekey,
    restore,
)

sqlcipher3 = pytest.importorskip("sqlcipher3")

BY = Actor("user", "ada")
SECRET = "the treasure is under the old oak"
KEY = "it's a \"key\" with 'quotes'"


@pytest.fixture(autouse=True, scope="module")
def quick_keys() -> Iterator[None]:
    """To make a key of what somebody typed takes a tenth of a second, on purpose; here it takes a
    thousandth."""
    with closing(sqlcipher3.connect(":memory:")) as connection:
        [rounds] = connection.execute("PRAGMA cipher_default_kdf_iter").fetchone()
        connection.execute("PRAGMA cipher_default_kdf_iter = 2000")
        yield
        connection.execute(f"PRAGMA cipher_default_kdf_iter = {rounds}")


def opened(source: Source) -> Memory:
    return Memory.open(source, clock=Ticking(), new_id=Numbered())


async def _filled(source: Source) -> None:
    async with opened(source) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        await memory.blocks.create(agent.id, NewBlock("secret", f"{SECRET}\n" * 500), by=BY)


async def _text(source: Source) -> str:
    async with opened(source) as memory:
        assert await memory.check() == ()
        return (await memory.blocks.read("agent-1", "secret")).value


async def test_no_text_stands_in_any_file(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db", key=KEY)
    async with opened(source) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        await memory.blocks.create(agent.id, NewBlock("secret", f"{SECRET}\n" * 500), by=BY)
        await memory.back_up(tmp_path / "b.db")
        files = sorted(tmp_path.iterdir())
        assert {file.name for file in files} >= {"m.db", "m.db-wal", "b.db"}
        assert (tmp_path / "m.db-wal").stat().st_size > 10_000
        for file in files:
            content = file.read_bytes()
            assert b"treasure" not in content, file
            assert b"anna" not in content, file
            assert b"CREATE TABLE" not in content, file
    assert b"treasure" not in (tmp_path / "m.db").read_bytes()
    assert await _text(source) == f"{SECRET}\n" * 500


async def test_without_a_key_the_text_does_stand_there(tmp_path: Path) -> None:
    """Or the test above would see nothing anywhere."""
    await _filled(Source(tmp_path / "m.db"))
    assert b"treasure" in (tmp_path / "m.db").read_bytes()


async def test_a_wrong_or_missing_key_is_said_and_nothing_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await _filled(Source(path, key=KEY))
    before = path.read_bytes()
    with pytest.raises(MemoryKey) as wrong:
        await _text(Source(path, key="guess"))
    assert "DCF_MEMORY_KEY" in wrong.value.hint
    with pytest.raises(MemoryCorrupt, match="encrypted and no key") as missing:
        await _text(Source(path))
    assert "DCF_MEMORY_KEY" in missing.value.hint
    for error in (wrong.value, missing.value):
        assert "guess" not in str(error)
    assert path.read_bytes() == before


async def test_a_key_for_a_file_that_has_none_is_said(tmp_path: Path) -> None:
    await _filled(Source(tmp_path / "m.db"))
    with pytest.raises(MemoryKey) as wrong:
        await _text(Source(tmp_path / "m.db", key=KEY))
    assert "unset it" in wrong.value.hint


@pytest.mark.parametrize("key", ["", "a\0b"])
def test_what_cannot_be_a_key_is_refused(key: str) -> None:
    """An empty variable must not mean a memory that everybody reads."""
    with pytest.raises(UnusableKey):
        Source(Path("m.db"), key=key)


def test_a_key_is_in_no_repr() -> None:
    assert KEY not in repr(Source(Path("m.db"), key=KEY))


async def test_a_backup_has_the_key_of_its_memory(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db", key=KEY)
    await _filled(source)
    async with opened(source) as memory:
        await memory.back_up(tmp_path / "b.db")
        await memory.agents.delete("agent-1", by=BY)
    with pytest.raises(MemoryKey):
        restore(tmp_path / "b.db", Source(tmp_path / "m.db", key="other"), aside="old")
    restore(tmp_path / "b.db", source, aside="old")
    assert await _text(source) == f"{SECRET}\n" * 500


@pytest.mark.parametrize(("old", "new"), [(KEY, "new"), (None, KEY), (KEY, None)])
async def test_a_memory_gets_another_key_or_a_first_one_or_none(
    tmp_path: Path, old: str | None, new: str | None
) -> None:
    source = Source(tmp_path / "m.db", key=old)
    await _filled(source)
    changed = rekey(source, new, aside="before")
    assert changed.key == new
    assert await _text(changed) == f"{SECRET}\n" * 500
    assert (b"treasure" in (tmp_path / "m.db").read_bytes()) is (new is None)
    with pytest.raises(MemoryProblem):
        await _text(source)
    async with opened(changed) as memory:
        assert [found.label for found in await memory.search.find("treasure")] == ["secret"]
    # The old one is for the caller to keep or to destroy.
    assert await _text(Source(tmp_path / "m.db.before", key=old)) == f"{SECRET}\n" * 500


async def test_a_memory_in_use_keeps_its_key(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db", key=KEY)
    await _filled(source)
    async with opened(source):
        with pytest.raises(MemoryInUse):
            rekey(source, "new", aside="before")
    with pytest.raises(MemoryKey):
        rekey(Source(tmp_path / "m.db", key="guess"), "new", aside="before")
    assert await _text(source)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.db", "m.db.lock"]


async def test_without_the_package_a_key_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    monkeypatch.setitem(sys.modules, "sqlcipher3.dbapi2", None)
    with pytest.raises(CipherMissing) as missing:
        await _filled(Source(tmp_path / "m.db", key=KEY))
    assert "encryption" in missing.value.hint
