"""The files of a measurement, and the digests that say what they are of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("control_plane", "dcf")

Json = dict[str, Any]


def json_lines(file: Path) -> Iterator[Json]:
    """The JSON lines of a file whose writer may have been killed in the middle of one."""
    for line in file.read_text(encoding="utf-8").split("\n"):
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def write_json(path: Path, value: Json) -> None:
    """A file that people read too."""
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def digest_of(root: Path, files: Iterable[Path]) -> str:
    """Of the names and contents of ``files``, named from ``root``; one may be missing."""
    digest = hashlib.sha256()
    for file in files:
        content = (root / file).read_bytes() if (root / file).exists() else b"none"
        digest.update(f"{file} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:32]


def source_digest() -> str:
    """Of the product's modules as they are now."""
    files = (one for source in SOURCES for one in (ROOT / source).rglob("*.py"))
    return digest_of(ROOT, sorted(one.relative_to(ROOT) for one in files))


def check_source(data: Path) -> None:
    """Refuse a folder whose map of lines is of another source; an empty one is taken."""
    data.mkdir(parents=True, exist_ok=True)
    noted = data / "source"
    if not noted.exists():
        noted.write_text(source_digest(), encoding="utf-8")
    if noted.read_text(encoding="utf-8") != source_digest():
        raise SystemExit(
            f"{data} is of another state of {' and '.join(SOURCES)}: take another folder (--data)"
        )
