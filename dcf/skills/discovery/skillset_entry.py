"""One entry of a skill set: a manifest file, as far as it can be read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dcf.regular_file import read_regular
from dcf.schema import Schema, SchemaUnusable
from dcf.skills.errors import InvalidManifest
from dcf.skills.manifest import Manifest
from dcf.skills.version import version_order

_REQUIRED = ("manifestId", "skillName", "skillVersion")
_KEPT = 16_384
"""Manifests whose check is kept, by their bytes: checking one costs far more than reading it, and
a server lists the same ones again and again."""
_LARGEST_KEPT = 65_536
"""Bytes; larger ones are checked each time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """``item`` is what is listed; ``manifest`` is None where the file cannot be used."""

    item: dict[str, Any]
    manifest: Manifest | None

    @property
    def manifest_id(self) -> str:
        return self.item["manifestId"] or ""

    def order(self) -> tuple[str, Any, str]:
        """By name, version and manifestId; what has no name comes first."""
        version = version_order(self.manifest.version) if self.manifest else ((), False, ())
        return self.item["skillName"] or "", version, self.manifest_id


def read_entry(
    path: Path,
    known: dict[str, Any] | None,
    schema: Schema | None,
    preview_chars: int,
) -> Entry:
    """The entry of the file at ``path``; ``known`` is what a catalog says of it."""
    document, manifest, reasons = _read(path)
    errors = list(reasons)
    valid = None
    if schema is not None and document is not None:
        faults = _faults(schema, document)
        valid = not faults
        errors += [f"SchemaError: {fault}" for fault in faults]
    item = _item({**(known or {}), **(document or {})}, preview_chars)
    place = {"path": str(path.resolve()), "valid_schema": valid, "errors": errors, "warnings": []}
    return Entry({**item, **place}, manifest)


_Read = tuple[dict[str, Any] | None, Manifest | None, tuple[str, ...]]
"""The document, the manifest where it is one, and what is wrong."""


def _read(path: Path) -> _Read:
    try:
        data = read_regular(path)
    except OSError as error:
        return None, None, (f"FileError: {error.strerror or type(error).__name__}",)
    except ValueError as error:
        return None, None, (f"JSONDecodeError: {error}",)
    return _kept(data) if len(data) <= _LARGEST_KEPT else _checked(data)


@lru_cache(maxsize=_KEPT)
def _kept(data: bytes) -> _Read:
    """What was found when it was checked; the same objects each time, which nobody changes."""
    return _checked(data)


def _checked(data: bytes) -> _Read:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        return None, None, (f"JSONDecodeError: {error}",)
    if not isinstance(document, dict):
        return None, None, ("ManifestLoadError: the file holds no JSON object",)
    missing = [name for name in _REQUIRED if not _text(document, name)]
    if missing:
        return document, None, (f"Missing required fields: {', '.join(missing)}",)
    try:
        return document, Manifest.from_document(document), ()
    except InvalidManifest as error:
        return document, None, tuple(f"ManifestLoadError: {one}" for one in error.problems)


def _faults(schema: Schema, document: dict[str, Any]) -> list[str]:
    try:
        return [error.message for error in schema.faults(document)]
    except SchemaUnusable as unusable:
        return [f"the schema cannot be used: {unusable}"]


def _item(document: dict[str, Any], preview_chars: int) -> dict[str, Any]:
    manifest_id, name, version, package = (
        _text(document, field) for field in (*_REQUIRED, "skillPackageId")
    )
    permissions = document.get("permissions")
    permissions = permissions if isinstance(permissions, dict) else {}
    required = [tool for tool in _list(document, "requiredTools") if isinstance(tool, dict)]
    tools = [tool_name for tool in required if (tool_name := _text(tool, "toolName"))]
    return {
        "manifestId": manifest_id,
        "skillPackageId": package,
        "skillName": name,
        "skillVersion": version,
        "manifestApiVersion": _text(document, "manifestApiVersion"),
        "aliases": _aliases(manifest_id, name, version, package),
        "description": _text(document, "description"),
        "tags": [tag for tag in _list(document, "tags") if isinstance(tag, str)],
        "permissions": {
            "egress": _text(permissions, "egress") or "none",
            "secrets": [one for one in _list(permissions, "secrets") if isinstance(one, str)],
            "riskLevel": _text(permissions, "riskLevel") or "low",
        },
        "toolNames": tools,
        "toolCount": len(tools),
        "dataSourceCount": len(_list(document, "requiredDataSources")),
        "directives_preview": _preview(_text(document, "skillDirectives") or "", preview_chars),
    }


def _aliases(
    manifest_id: str | None, name: str | None, version: str | None, package: str | None
) -> list[str]:
    aliases = []
    if name and version:
        aliases += [f"{name.lower()}@{version}", f"skill://{name.lower()}@{version}"]
    if package and version:
        aliases.append(f"skill://{package}@{version}")
    if manifest_id:
        aliases.append(manifest_id)
    return list(dict.fromkeys(aliases))


def _preview(directives: str, chars: int) -> str | None:
    if chars <= 0:
        return None
    line = " ".join(directives.splitlines()).strip()
    return line if len(line) <= chars else f"{line[:chars].rstrip()}…"


def _text(document: dict[str, Any], field: str) -> str | None:
    value = document.get(field)
    return value if isinstance(value, str) and value else None


def _list(document: dict[str, Any], field: str) -> list[Any]:
    value = document.get(field)
    return value if isinstance(value, list) else []
