"""Where skills are loaded from: the catalog, files in allowed folders, or a manifest's own text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dcf.agents.loading.errors import LoadRefused
from dcf.agents.loading.lock import lock_fault
from dcf.digest import digest
from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills import InvalidManifest, Manifest, SkillCatalog, SkillError, UnknownSkill, whole

JSON = Any

MANIFEST_LIMIT = 1024 * 1024
"""Bytes of a manifest in a file or a text."""

_LOCK = "skills.lock"


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A manifest, and the digests that it can be known by: of the document, and of the file or text
    it was read from. It is ``trusted`` when it is the catalog's, or as the lock has it."""

    manifest: Manifest
    digests: tuple[str, ...]
    trusted: bool


class SkillLibrary:
    """Finds what a text means by a skill.

    ``roots`` are the folders in which manifest files may lie. ``locked`` maps manifestIds of the
    catalog to their digests; None where no lock is known, and then nothing is compared.
    """

    def __init__(
        self,
        catalog: SkillCatalog,
        *,
        roots: Sequence[Path] = (),
        locked: Mapping[str, str] | None = None,
    ) -> None:
        self.catalog = catalog
        self._roots = [root.resolve() for root in roots]
        self._locked = locked
        known = (one.digest for one in catalog) if locked is None else locked.values()
        self._trusted = frozenset(known)

    @classmethod
    def load(cls, generated_dir: Path, *, roots: Sequence[Path] = ()) -> SkillLibrary:
        """The catalog and ``skills.lock`` of a generated folder; its manifests are allowed files.

        Raises CatalogUnreadable, InvalidManifest, LoadRefused for a lock that is broken.
        """
        with whole(generated_dir):
            catalog = SkillCatalog.load(generated_dir)
            locked = _locked(generated_dir / _LOCK)
        return cls(catalog, roots=[generated_dir / "manifests", *roots], locked=locked)

    def find(self, skill: str) -> FoundSkill:
        """The skill that ``skill`` means: the text of a manifest (it begins with ``{``), a
        ``file://`` address or a path (it has a ``/`` or ends with ``.json``), else a name for the
        catalog: ``skill.a.b@1.0.0``, ``a.b@1.0.0``, ``a.b@^1.2``, ``a.b``, each also after
        ``skill://``. Raises LoadRefused.
        """
        if len(skill) > MANIFEST_LIMIT:
            raise LoadRefused([_too_large("the manifest")])
        text = skill.strip()
        if text.startswith(("{", "[")):
            return self._read(text.encode(errors="surrogatepass"), "the manifest")
        if text.startswith("file://"):
            return self._file(_local_path(text))
        if not text.startswith("skill://") and ("/" in text or text.endswith(".json")):
            return self._file(Path(text))
        return self._known(self._resolve(text))

    def with_needed(self, manifest: Manifest) -> dict[str, tuple[Manifest, dict[str, str]]]:
        """``manifest`` and all it needs, by manifestId, each with what its dependencies resolve to.

        Raises LoadRefused with every dependency that the catalog lacks or the lock refuses.
        """
        found: dict[str, tuple[Manifest, dict[str, str]]] = {}
        problems: list[Problem] = []
        waiting = [manifest]
        while waiting:
            here = waiting.pop()
            if here.manifest_id in found:
                continue
            needs: dict[str, str] = {}
            for ref in here.dependencies:
                try:
                    needed = self._known(self._resolve(ref)).manifest
                except LoadRefused as refused:
                    problems += [_of(here, problem) for problem in refused.problems]
                    continue
                needs[ref] = needed.manifest_id
                waiting.append(needed)
            found[here.manifest_id] = (here, needs)
        if problems:
            raise LoadRefused(problems)
        return found

    def _resolve(self, ref: str) -> Manifest:
        try:
            return self.catalog.resolve(ref)
        except UnknownSkill as unknown:
            raise LoadRefused([Problem("SKILL_LOAD_UNKNOWN_SKILL", str(unknown))]) from unknown

    def _known(self, manifest: Manifest) -> FoundSkill:
        """A manifest of the catalog, unless the lock says that it is another."""
        if self._locked is not None:
            locked = self._locked.get(manifest.manifest_id)
            if locked != manifest.digest:
                raise LoadRefused([_unlocked(manifest, locked)])
        return FoundSkill(manifest, (manifest.digest,), trusted=True)

    def _file(self, path: Path) -> FoundSkill:
        place = self._allowed(path)
        try:
            data = read_regular(place, MANIFEST_LIMIT + 1)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise LoadRefused([Problem("SKILL_LOAD_UNREADABLE", f"{path}: {reason}")]) from error
        return self._read(data, str(path))

    def _allowed(self, path: Path) -> Path:
        """``path`` with all symbolic links followed, if it lies in one of the allowed folders."""
        for root in self._roots:
            try:
                place = (root / path).resolve()
                there = place.exists() or path.is_absolute()
            # A loop of links, a NUL in the name, or a name that is too long.
            except (OSError, ValueError, RuntimeError):
                break
            if there and place.is_relative_to(root):
                return place
        message = f"{path} lies in none of the folders that manifests may be read from"
        hint = "name a skill of the catalog, or give the text of the manifest"
        raise LoadRefused([Problem("SKILL_LOAD_PATH", message, hint=hint)])

    def _read(self, data: bytes, source: str) -> FoundSkill:
        if len(data) > MANIFEST_LIMIT:
            raise LoadRefused([_too_large(source)])
        try:
            document: JSON = json.loads(data)
        except (ValueError, RecursionError) as error:
            problem = Problem("SKILL_LOAD_JSON", f"{source} is no JSON ({error})")
            raise LoadRefused([problem]) from error
        if not isinstance(document, dict):
            hint = "give one manifest, an object"
            raise LoadRefused(
                [Problem("SKILL_LOAD_JSON", f"{source} is no JSON object", hint=hint)]
            )
        try:
            manifest = Manifest.from_document(document, source)
        except InvalidManifest as invalid:
            raise LoadRefused(invalid.problems) from invalid
        except (SkillError, ValueError, RecursionError) as error:
            raise LoadRefused([Problem("SKILL_LOAD_MANIFEST", f"{source}: {error}")]) from error
        trusted = manifest.digest in self._trusted
        return FoundSkill(manifest, (manifest.digest, digest(data)), trusted)


def _local_path(address: str) -> Path:
    host, _, path = address.removeprefix("file://").partition("/")
    if host not in ("", "localhost"):
        message = f"{address} names a file of another machine"
        raise LoadRefused(
            [Problem("SKILL_LOAD_PATH", message, hint="write file:///folder/file.json")]
        )
    return Path("/" + unquote(path))


def _locked(path: Path) -> dict[str, str] | None:
    """ManifestId to digest; None without a lock. Raises LoadRefused for what is no lock."""
    try:
        document = json.loads(read_regular(path))
        fault = lock_fault(document)
        if fault:
            raise ValueError(fault)
        return {name: entry["digest"] for name, entry in document["skills"].items()}
    except FileNotFoundError as missing:
        if not path.is_symlink():
            return None
        hint = "generate the skills again"
        problem = Problem("SKILL_LOAD_LOCK", f"{path} leads nowhere", hint=hint)
        raise LoadRefused([problem]) from missing
    except (OSError, ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        hint = "generate the skills again"
        problem = Problem("SKILL_LOAD_LOCK", f"{path} cannot be read ({error})", hint=hint)
        raise LoadRefused([problem]) from error


def _unlocked(manifest: Manifest, locked: str | None) -> Problem:
    name = manifest.manifest_id
    hint = "generate the skills again, after a look at what changed"
    if locked is None:
        return Problem("SKILL_LOAD_NOT_LOCKED", f"{name} is not in {_LOCK}", hint=hint)
    message = f"{name} is not the one of {_LOCK}: {manifest.digest} instead of {locked}"
    return Problem("SKILL_LOAD_INTEGRITY", message, hint=hint)


def _too_large(source: str) -> Problem:
    return Problem("SKILL_LOAD_TOO_LARGE", f"{source} has more than {MANIFEST_LIMIT} bytes")


def _of(manifest: Manifest, problem: Problem) -> Problem:
    message = f"{manifest.manifest_id} needs what cannot be loaded: {problem.message}"
    return Problem(problem.code, message, "/dependencies", problem.hint, problem.severity)
