"""What a folder of manifests, or a catalog, offers: one entry for each file, good or bad."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dcf.regular_file import read_regular
from dcf.schema import Schema, SchemaUnusable, schema_of
from dcf.search import DEFAULT_EMBEDDER, SearchError, embedder_named
from dcf.skills.discovery.filters import Filters, InvalidFilter
from dcf.skills.discovery.skill_search import SkillSearch
from dcf.skills.discovery.skillset_entry import Entry, read_entry

PREVIEW_CHARS = 400
FAILED = 4
"""The exit code of a listing that was not possible."""

DEFAULT_MANIFESTS = Path("generated/manifests")
DEFAULT_CATALOG = Path("generated/catalogs/skills_catalog.json")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of the entries is wanted: all, or the ``limit`` that fit a ``query`` best; of those with
    all ``tags``, at most ``max_risk`` and ``max_egress``, no other ``secrets`` than these (None:
    any), and a version in the range ``versions``. ``search`` is the index to use; without one the
    entries are indexed for this query alone."""

    query: str | None = None
    tags: Sequence[str] = ()
    max_risk: str | None = None
    limit: int | None = None
    max_egress: str | None = None
    secrets: Sequence[str] | None = None
    versions: str | None = None
    search: SkillSearch | None = None


ALL = Wanted()


def get_skillset(
    manifests_dir: str | Path | None = None,
    schema_path: str | Path | None = None,
    include_previews: bool = True,
    preview_chars: int | None = None,
    *,
    wanted: Wanted = ALL,
) -> dict[str, Any]:
    """The skills of the ``*.json`` files in a folder, not below it.

    Returns ``{ok, exit_code, status, error, available_skills, warnings}``. A file that cannot be
    used has its reasons in ``errors`` of its entry. With a query, entries also have ``score``,
    ``why`` and ``price``, the best first; else they are in order of name, version and manifestId.
    """
    folder = Path(manifests_dir or DEFAULT_MANIFESTS)
    if not folder.is_dir():
        return _failed(f"there is no folder {folder}; generate the skills first")
    paths = [(path, None) for path in sorted(folder.glob("*.json"))]
    return _listing(paths, schema_path, include_previews, preview_chars, wanted, [])


def get_skillset_from_catalog(
    catalog_path: str | Path | None = None,
    schema_path: str | Path | None = None,
    include_previews: bool = False,
    preview_chars: int | None = None,
    *,
    wanted: Wanted = ALL,
) -> dict[str, Any]:
    """The skills that a catalog lists; each ``path`` is absolute, ``file://``, or as seen from the
    catalog's folder. What the catalog says of a skill holds where its manifest says nothing.

    Returns the same as ``get_skillset``. A catalog that is missing or has no list ``skills`` is an
    error, an entry without path a warning.
    """
    catalog = Path(catalog_path or DEFAULT_CATALOG)
    try:
        document = json.loads(read_regular(catalog))
    except OSError as error:
        return _failed(f"the catalog {catalog} cannot be read: {error.strerror}")
    except (ValueError, RecursionError) as error:
        return _failed(f"the catalog {catalog} is no JSON: {error}")
    entries = document.get("skills") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        return _failed(f"the catalog {catalog} has no list 'skills'")
    paths: list[tuple[Path, dict[str, Any] | None]] = []
    warnings: list[str] = []
    for number, entry in enumerate(entries):
        path = entry.get("path") if isinstance(entry, dict) else None
        if isinstance(path, str) and path:
            paths.append((catalog.parent / _local(path), entry))
        else:
            warnings.append(f"skills[{number}] of the catalog has no path")
    return _listing(paths, schema_path, include_previews, preview_chars, wanted, warnings)


def _local(path: str) -> str:
    return unquote(urlsplit(path).path) if path.startswith("file://") else path


def _listing(
    paths: Iterable[tuple[Path, dict[str, Any] | None]],
    schema_path: str | Path | None,
    include_previews: bool,
    preview_chars: int | None,
    wanted: Wanted,
    warnings: list[str],
) -> dict[str, Any]:
    schema, complaint = _schema(schema_path)
    if complaint:
        warnings.append(complaint)
    chars = (PREVIEW_CHARS if preview_chars is None else preview_chars) if include_previews else 0
    entries = [read_entry(path, known, schema, chars) for path, known in paths]
    try:
        items = _chosen(entries, wanted, warnings)
    except (SearchError, InvalidFilter) as error:
        return _failed(f"{error.code}: {error}")
    return {
        "ok": True,
        "exit_code": 0,
        "status": "ok",
        "error": None,
        "available_skills": items,
        "warnings": warnings,
    }


def _chosen(entries: list[Entry], wanted: Wanted, warnings: list[str]) -> list[dict[str, Any]]:
    filters = Filters(
        tags=tuple(wanted.tags),
        max_risk=wanted.max_risk,
        max_egress=wanted.max_egress,
        secrets=None if wanted.secrets is None else frozenset(wanted.secrets),
        versions=wanted.versions,
        newest_only=False,
    )
    if wanted.query is None:
        plain = filters == Filters(newest_only=False)
        usable = [entry.manifest for entry in entries if entry.manifest]
        passing = {manifest.manifest_id for manifest in filters.choose(usable)}
        kept = [one for one in entries if plain or (one.manifest_id in passing and one.manifest)]
        return [entry.item for entry in sorted(kept, key=Entry.order)][: wanted.limit]
    by_id: dict[str, Entry] = {}
    for entry in entries:
        if entry.manifest:
            by_id.setdefault(entry.manifest.manifest_id, entry)
        else:
            warnings.append(f"{entry.item['path']} is left out of the search: it cannot be used")
    manifests = [entry.manifest for entry in by_id.values() if entry.manifest]
    k = len(manifests) if wanted.limit is None else wanted.limit
    with tempfile.TemporaryDirectory(prefix="dcf-skillset-") as folder:
        search = wanted.search or SkillSearch(
            Path(folder) / "index.db", embedder_named(DEFAULT_EMBEDDER)
        )
        hits = search.search(manifests, wanted.query, k, filters)
    return [{**by_id[hit.manifest.manifest_id].item, **hit.to_json()} for hit in hits]


def _schema(schema_path: str | Path | None) -> tuple[Schema | None, str | None]:
    """The schema in a file, or why there is none."""
    if schema_path is None:
        return None, None
    try:
        return schema_of(json.loads(read_regular(Path(schema_path)))), None
    except (OSError, ValueError, RecursionError, SchemaUnusable) as error:
        return None, f"the schema {schema_path} cannot be used: {str(error).splitlines()[0]}"


def _failed(reason: str) -> dict[str, Any]:
    return {
        "ok": False,
        "exit_code": FAILED,
        "status": None,
        "error": reason,
        "available_skills": [],
        "warnings": [],
    }
