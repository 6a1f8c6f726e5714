"""The lock files leave nothing for an installer to decide: versions, hashes and extras stand there.

An extra that is asked for and not locked is looked for anew by some installers, until its newest
release no longer fits what is locked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOLDER = Path(__file__).parents[3] / "requirements"
LOCKS = sorted(path.stem for path in FOLDER.glob("*.txt"))


@cache
def locked(lock: str) -> tuple[tuple[Requirement, str], ...]:
    """Each requirement of a lock file, with the text after it."""
    text = re.sub(r"^ *#.*\n", "", (FOLDER / f"{lock}.txt").read_text("utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    halves = [line.partition(" --hash=") for line in lines]
    return tuple((Requirement(before), mark + after) for before, mark, after in halves)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_has_one_version_and_hashes(lock: str) -> None:
    assert locked(lock)
    for requirement, hashes in locked(lock):
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert re.fullmatch(r"( +--hash=sha256:[0-9a-f]{64})+ *", hashes), requirement
        assert requirement.url is None


# All that is locked is installed here.
@pytest.mark.parametrize("lock", LOCKS)
def test_every_extra_that_is_asked_for_is_locked(lock: str) -> None:
    asked = {
        (package, canonicalize_name(one.name), extra)
        for package, one in asked_for(lock)
        for extra in one.extras
    }
    missing = [(by, name, extra) for by, name, extra in asked if extra not in extras(lock)[name]]
    assert missing == []
    if lock == "dev":
        assert ("google-genai", "google-auth", "requests") in asked, "there is something to find"


@cache
def extras(lock: str) -> dict[str, set[str]]:
    """The locked extras of each package that this platform gets."""
    here = [one for one, _ in locked(lock) if not one.marker or one.marker.evaluate()]
    return {canonicalize_name(one.name): set(one.extras) for one in here}


def asked_for(lock: str) -> Iterator[tuple[str, Requirement]]:
    """What each locked package asks for on this platform, as its metadata says."""
    for package, chosen in extras(lock).items():
        try:
            requires = metadata.requires(package) or []
        except metadata.PackageNotFoundError:
            assert package == "uv" or lock != "dev", f"{package} is locked and not installed"
            continue
        for one in map(Requirement, requires):
            contexts = [{"extra": extra} for extra in ("", *chosen)]
            if not one.marker or any(one.marker.evaluate(context) for context in contexts):
                yield package, one
