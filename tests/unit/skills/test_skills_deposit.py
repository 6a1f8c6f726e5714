"""Writing the generated folder while others write, and when the writer is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from skill_samples import SKILL_FILE, edited, write_sources

from dcf.agents.loading import SkillLibrary
from dcf.regular_file import read_regular
from dcf.skills import (
    CatalogUnreadable,
    GenerateResult,
    SkillCatalog,
    check_generated,
    generate_all,
    whole,
    yaml_to_manifests,
    yaml_to_registry,
    yaml_to_schemas,
    yaml_to_stub_config,
)
from dcf.skills.generation import deposit as deposits
from dcf.skills.generation.deposit import PATIENCE_S
from dcf.tools import InvalidDocument
from dcf.worker import read_lock, read_policy


class Killed(BaseException):
    """Nothing is done any more, as after SIGKILL."""


def kill_after(writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many files be written whole; the one after them is left half written."""
    left = [writes]
    whole = deposits.write_whole

    def write(path: Path, data: bytes) -> None:
        if not left[0]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.4711.tmp").write_bytes(data[: len(data) // 2])
            raise Killed
        left[0] -= 1
        whole(path, data)

    monkeypatch.setattr(deposits, "write_whole", write)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


CHANGED = edited(SKILL_FILE, "description: Brew tea.", "description: Brew.")


@pytest.mark.parametrize("writes", [1, 2, 3])
def test_what_a_killed_generation_leaves_is_used_by_no_reader(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "out"
    assert generate_all(write_sources(tmp_path / "src"), out).ok
    src = write_sources(tmp_path / "changed", CHANGED)
    with monkeypatch.context() as patched:
        kill_after(writes, patched)
        with pytest.raises(Killed):
            generate_all(src, out)
    with pytest.raises(CatalogUnreadable, match="broken off"):
        SkillCatalog.load(out)
    with pytest.raises(CatalogUnreadable, match="broken off"):
        SkillLibrary.load(out)
    with pytest.raises(InvalidDocument, match="broken off"):
        read_lock(out)

    assert generate_all(src, out).ok
    fresh = tmp_path / "fresh"
    assert generate_all(src, fresh).ok
    assert contents(out) == contents(fresh)
    assert len(SkillCatalog.load(out)) > 0


def test_before_the_first_file_of_a_killed_generation_all_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "out"
    assert generate_all(write_sources(tmp_path / "src"), out).ok
    with monkeypatch.context() as patched:
        kill_after(0, patched)
        with pytest.raises(Killed):
            generate_all(write_sources(tmp_path / "changed", CHANGED), out)
    assert len(SkillCatalog.load(out)) > 0
    # The half file is told, and goes.
    found = check_generated(tmp_path / "src", out)
    assert found.written == ()
    assert found.removed == (".skills.lock.4711.tmp",)
    assert generate_all(tmp_path / "src", out).removed == found.removed
    assert not list(out.rglob("*.tmp"))


def test_stale_files_are_known_after_a_killed_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "out"
    assert generate_all(write_sources(tmp_path / "src"), out).ok
    lock = json.loads((out / "skills.lock").read_bytes())
    lock["artefacts"]["schemas/of_before.schema.json"] = ""
    (out / "skills.lock").write_text(json.dumps(lock))
    (out / "schemas/of_before.schema.json").write_text("{}")
    with monkeypatch.context() as patched:
        kill_after(1, patched)
        with pytest.raises(Killed):
            generate_all(write_sources(tmp_path / "changed", CHANGED), out)
    assert generate_all(tmp_path / "changed", out).ok
    assert not (out / "schemas/of_before.schema.json").exists()


def test_two_generations_at_once_leave_the_files_of_one(tmp_path: Path):
    sources = [write_sources(tmp_path / "a"), write_sources(tmp_path / "b", CHANGED)]
    wanted = []
    for number, src in enumerate(sources):
        assert generate_all(src, tmp_path / f"only{number}").ok
        wanted.append(contents(tmp_path / f"only{number}"))
    for turn in range(6):
        out, problems = tmp_path / f"out{turn}", []

        def generate(src: Path, out: Path = out, problems: list[object] = problems) -> None:
            problems.extend(generate_all(src, out).problems)

        threads = [threading.Thread(target=generate, args=[src]) for src in sources]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not [problem for problem in problems if "WRITE" in str(problem)]
        assert contents(out) in wanted


@contextmanager
def another_writer(out: Path) -> Iterator[None]:
    """A generation in another process that goes on until the end of the block."""
    code = (
        "import fcntl, os, sys\n"
        "held = os.open(sys.argv[1], os.O_RDONLY)\n"
        "fcntl.flock(held, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "held\n"
        yield
        writer.communicate(timeout=10)


def generated(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    assert generate_all(write_sources(tmp_path / "src"), out).ok
    return out


READERS = [SkillCatalog.load, SkillLibrary.load, read_lock, read_policy]


@pytest.mark.parametrize("read", READERS)
def test_a_reader_waits_for_a_generation_that_is_under_way(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    out = generated(tmp_path)
    lock = (out / "skills.lock").read_bytes()
    (out / "skills.lock").write_text('{"unfinished": true}')
    with ThreadPoolExecutor() as threads:
        with another_writer(out):
            reading = threads.submit(read, out)
            with pytest.raises(TimeoutError):
                reading.result(0.3)
            (out / "skills.lock").write_bytes(lock)
        assert reading.result(10) is not None


@pytest.mark.parametrize("read", READERS)
def test_what_was_broken_off_is_refused_at_once(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    out = generated(tmp_path)
    (out / "skills.lock").write_text('{"unfinished": true}')
    begun = time.monotonic()
    with pytest.raises((CatalogUnreadable, InvalidDocument), match="broken off"):
        read(out)
    assert time.monotonic() - begun < PATIENCE_S / 2


def test_a_reader_does_not_wait_for_ever(tmp_path: Path) -> None:
    out = generated(tmp_path)
    (out / "skills.lock").write_text('{"unfinished": true}')
    with another_writer(out):
        begun = time.monotonic()
        with whole(out, patience_s=0.2) as is_whole:
            assert not is_whole
        assert 0.2 <= time.monotonic() - begun < 5


@pytest.mark.parametrize("read", READERS)
def test_a_generation_that_begins_while_somebody_reads_waits(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = generated(tmp_path)
    before = contents(out)
    changed = write_sources(tmp_path / "changed", CHANGED)
    with ThreadPoolExecutor() as threads:
        generations: list[Future[GenerateResult]] = []

        def opening(*arguments: Any, **options: Any) -> bytes:
            if not generations:
                generations.append(threads.submit(generate_all, changed, out))
                # Long enough for a whole generation, were it let.
                time.sleep(0.5)
            assert contents(out) == before
            return read_regular(*arguments, **options)

        for module in ("skills.catalog", "agents.loading.library", "worker.generated_rules"):
            monkeypatch.setattr(f"dcf.{module}.read_regular", opening)
        read(out)
        assert len(generations) == 1
        assert generations[0].result(30).ok
    assert contents(out) != before


def _part(write: Callable[..., dict[str, Any]], *places: str) -> Any:
    return pytest.param(write, places, id=write.__name__)


@pytest.mark.parametrize(
    ("write", "places"),
    [
        _part(
            yaml_to_manifests,
            "src/skills",
            "src/tools.yaml",
            "out/manifests",
            "out/catalogs/skills_catalog.json",
        ),
        _part(yaml_to_stub_config, "src/tools.yaml", "out/stub/stub_config.json"),
        _part(yaml_to_registry, "src/registry.yaml", "out/registry.json"),
        _part(yaml_to_schemas, "schemas", "out/schemas"),
    ],
)
def test_a_part_is_not_written_while_a_whole_generation_is(
    write: Callable[..., dict[str, Any]], places: tuple[str, ...], tmp_path: Path
) -> None:
    generated(tmp_path)
    before = contents(tmp_path / "out")
    for file in before.keys() - {"skills.lock"}:
        (tmp_path / "out" / file).unlink()
    with ThreadPoolExecutor() as threads:
        with another_writer(tmp_path / "out"):
            writing = threads.submit(write, *(tmp_path / place for place in places))
            with pytest.raises(TimeoutError):
                writing.result(0.4)
            assert contents(tmp_path / "out").keys() == {"skills.lock"}
        assert writing.result(10)["ok"]
    after = contents(tmp_path / "out")
    assert len(after) > 1
    assert after.items() <= before.items()
