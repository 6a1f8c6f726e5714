"""What a workflow document imports: skills and agent files, found, read, and their digests checked.

Files are looked for below given folders only: a document must not make its reader open others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills import SkillCatalog, UnknownSkill

_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Folders:
    """Where imports may lie; relative ones are looked for below ``agents`` (``.af`` files) and
    ``skills`` (manifests)."""

    agents: Path
    skills: Path
    allowed: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """One import: ``names`` are what it brings."""

    uri: str
    names: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Imports:
    """All imports of a document. ``agents`` and ``skills`` are every name they can be called by."""

    agent_files: tuple[Imported, ...] = ()
    skill_files: tuple[Imported, ...] = ()
    agents: frozenset[str] = frozenset()
    skills: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Found:
    names: list[str] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)
    tools: list[str] = field(default_factory=list)


def read_imports(raw: Mapping[str, Any], folders: Folders, catalog: SkillCatalog) -> Imports:
    """Resolve ``af_imports`` and ``skill_imports``. Reads files."""
    problems: list[Problem] = []
    agents: set[str] = set()
    skills: set[str] = set()
    agent_files = []
    for place, entry in _entries(raw, "af_imports"):
        found, imported = _agent_file(entry, folders)
        agents |= found.aliases
        agent_files.append(imported)
        problems += _problem(imported, place)
    skill_files = []
    for place, entry in _entries(raw, "skill_imports"):
        found, imported = _skills(entry, folders, catalog)
        skills |= found.aliases
        skill_files.append(imported)
        problems += _problem(imported, place)
    return Imports(
        tuple(agent_files), tuple(skill_files), frozenset(agents), frozenset(skills),
        tuple(problems),
    )  # fmt: skip


def _entries(raw: Mapping[str, Any], name: str) -> list[tuple[str, Mapping[str, Any]]]:
    given = raw.get(name)
    return [
        (f"/{name}/{number}/uri", entry)
        for number, entry in enumerate(given if isinstance(given, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("uri"), str)
    ]


def _agent_file(entry: Mapping[str, Any], folders: Folders) -> tuple[_Found, Imported]:
    found = _Found()
    document, error = _document(entry, folders.agents, folders)
    if isinstance(document, dict):
        for agent in _objects(document.get("agents")):
            known = [agent[key] for key in ("id", "name") if isinstance(agent.get(key), str)]
            found.names += known[-1:]
            found.aliases |= set(known)
        for tool in _objects(document.get("tools")):
            if isinstance(tool.get("name"), str):
                found.tools.append(tool["name"])
    return found, Imported(entry["uri"], tuple(found.names), tuple(found.tools), error)


def _skills(
    entry: Mapping[str, Any], folders: Folders, catalog: SkillCatalog
) -> tuple[_Found, Imported]:
    found = _Found()
    uri = entry["uri"]
    if uri.startswith("skill://"):
        try:
            manifest = catalog.resolve(uri)
        except UnknownSkill as unknown:
            return found, Imported(uri, error=str(unknown))
        found.names.append(manifest.manifest_id)
        found.aliases |= set(manifest.aliases)
        return found, Imported(uri, tuple(found.names))
    document, error = _document(entry, folders.skills, folders)
    bundle = document.get("skills") if isinstance(document, dict) else None
    for skill in _objects(bundle if isinstance(bundle, list) else [document]):
        id_, name, version = (skill.get(key) for key in ("manifestId", "skillName", "skillVersion"))
        if not isinstance(id_, str):
            continue
        found.names.append(id_)
        found.aliases |= {id_, f"{name}@{version}", f"skill://{name}@{version}"}
        package = skill.get("skillPackageId")
        if isinstance(package, str):
            found.aliases |= {package, f"skill://{package}@{version}"}
    if error is None and not found.names:
        error = "it holds no skill manifest"
    return found, Imported(uri, tuple(found.names), error=error)


def _document(entry: Mapping[str, Any], base: Path, folders: Folders) -> tuple[Any, str | None]:
    """The JSON value behind an import, or why there is none."""
    file = _file(entry["uri"], base)
    if file is None:
        return None, "only paths and file:// are read here, and skill:// for skills"
    try:
        file = file.resolve()
    except (OSError, ValueError, RuntimeError):
        return None, "this is no path"
    if not any(file.is_relative_to(folder.resolve()) for folder in (base, *folders.allowed)):
        return None, "it lies outside the folders for imports"
    try:
        content = read_regular(file, _MOST_BYTES + 1)
    except OSError as error:
        return None, error.strerror or type(error).__name__
    if len(content) > _MOST_BYTES:
        return None, f"it has more than {_MOST_BYTES} bytes"
    wanted = entry.get("integrity")
    if isinstance(wanted, str) and wanted:
        algorithm, _, digest = wanted.partition(":")
        if algorithm != "sha256" or hashlib.sha256(content).hexdigest() != digest.lower():
            return None, f"its content does not have the integrity {wanted}"
    try:
        return json.loads(content), None
    except (ValueError, RecursionError):
        return None, "it is no JSON"


def _file(uri: str, base: Path) -> Path | None:
    if "\x00" in uri:
        return None
    if uri.startswith("file://"):
        return Path(unquote(urlsplit(uri).path))
    if "://" in uri:
        return None
    return base / uri


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _problem(imported: Imported, place: str) -> list[Problem]:
    if imported.error is None:
        return []
    message = f"{imported.uri!r} cannot be imported: {imported.error}"
    hint = "give a path below the folder for imports, or skill://name@version"
    return [Problem("WF_IMPORT", message, place, hint)]
