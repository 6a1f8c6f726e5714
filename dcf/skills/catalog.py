"""The catalog: every generated skill, found by any of its names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dcf.regular_file import read_regular
from dcf.skills.authoring.source_tree import is_inside
from dcf.skills.errors import CatalogUnreadable, UnknownSkill
from dcf.skills.generation.artefacts import CATALOG
from dcf.skills.generation.deposit import whole
from dcf.skills.manifest import Manifest
from dcf.skills.version import newest, parse_ref
from dcf.skills.version_order import version_order

_LONGEST_REF = 1_000
"""Characters; among the names of skills nothing is looked for that is longer."""


class SkillCatalog:
    """Skills by name.

    ``resolve`` takes ``skill.orders.quote@1.0.0``, ``orders.quote@1.0.0``, either of them after
    ``skill://``, ``skill://<package>@<version>``, the bare name for the newest version, and a name
    with a range (``orders.quote@^1.2``) for the newest version in it.
    """

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._manifests = sorted(manifests, key=_order)
        self._by_name: dict[str, Manifest] = {}
        self._versions_of: dict[str, list[Manifest]] = {}
        for manifest in self._manifests:
            self._versions_of.setdefault(manifest.name, []).append(manifest)
        for manifest in self._manifests:  # in order of versions: the newest takes the bare name
            for name in _bare_names(manifest):
                self._by_name[name] = manifest
        for manifest in self._manifests:
            for alias in manifest.aliases:
                self._by_name[_key(alias)] = manifest

    @classmethod
    def load(cls, generated_dir: Path) -> SkillCatalog:
        """Read ``catalogs/skills_catalog.json`` and every manifest it lists.

        Raises ``CatalogUnreadable``, also where generating was broken off, or ``InvalidManifest``.
        """
        path = generated_dir / CATALOG
        with whole(generated_dir) as is_whole:
            if not is_whole:
                raise CatalogUnreadable(str(path), "generating is under way, or was broken off")
            document = _read(path)
            entries = document.get("skills") if isinstance(document, dict) else None
            if not isinstance(entries, list):
                raise CatalogUnreadable(str(path), "it has no list 'skills'")
            return cls([_manifest(entry, path, generated_dir) for entry in entries])

    def resolve(self, ref: str) -> Manifest:
        """The skill that ``ref`` names; raises ``UnknownSkill`` with the closest manifestIds, or
        with those of the same name when none of them lies in the range."""
        if len(ref) > _LONGEST_REF:
            raise UnknownSkill(ref)
        found = self._by_name.get(_key(ref)) or self._in_range(ref)
        if found is None:
            raise UnknownSkill(ref, self._versions(ref) or self._closest(ref))
        return found

    def with_dependencies(self, manifest: Manifest) -> list[Manifest]:
        """``manifest`` and all that it needs, each once, after what it needs itself.

        Raises ``UnknownSkill`` for a dependency that the catalog does not have.
        """
        order: list[Manifest] = []
        seen = {manifest.manifest_id}
        waiting = [(manifest, iter(manifest.dependencies))]
        while waiting:
            here, rest = waiting[-1]
            ref = next(rest, None)
            if ref is None:
                order.append(here)
                waiting.pop()
                continue
            needed = self.resolve(ref)
            if needed.manifest_id not in seen:
                seen.add(needed.manifest_id)
                waiting.append((needed, iter(needed.dependencies)))
        return order

    def __iter__(self) -> Iterator[Manifest]:
        """All skills by name, then version."""
        return iter(self._manifests)

    def __len__(self) -> int:
        return len(self._manifests)

    def _in_range(self, ref: str) -> Manifest | None:
        wanted = parse_ref(ref)
        same = {manifest.version: manifest for manifest in self._named(wanted.name)}
        version = newest(same, wanted.wanted)
        return same[version] if version else None

    def _named(self, name: str) -> list[Manifest]:
        """All versions of the skill, the newest last."""
        newest_one = self._by_name.get(name)
        return self._versions_of.get(newest_one.name, []) if newest_one else []

    def _versions(self, ref: str) -> list[str]:
        same = self._named(parse_ref(ref).name)
        return [manifest.manifest_id for manifest in reversed(same)][:3]

    def _closest(self, ref: str) -> list[str]:
        near = get_close_matches(_key(ref), self._by_name, n=9, cutoff=0.5)
        return list(dict.fromkeys(self._by_name[name].manifest_id for name in near))[:3]


def _key(ref: str) -> str:
    """The scheme says nothing more, and names do not differ in case."""
    return ref.strip().removeprefix("skill://").lower()


def _bare_names(manifest: Manifest) -> Iterator[str]:
    yield _key(manifest.name)
    yield _key(f"skill.{manifest.name}")
    if manifest.package_id:
        yield _key(manifest.package_id)


def _order(manifest: Manifest) -> tuple[str, Any]:
    return manifest.name, version_order(manifest.version)


def _manifest(entry: Any, catalog: Path, generated_dir: Path) -> Manifest:
    name = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise CatalogUnreadable(str(catalog), "an entry has no path")
    path = catalog.parent / name
    if not is_inside(path, generated_dir):
        raise CatalogUnreadable(str(catalog), f"{name!r} lies outside the generated folder")
    document = _read(path)
    if not isinstance(document, dict):
        raise CatalogUnreadable(str(path), "it is no JSON object")
    return Manifest.from_document(document, str(path))


def _read(path: Path) -> Any:
    try:
        return json.loads(read_regular(path))
    except OSError as error:
        raise CatalogUnreadable(str(path), error.strerror or type(error).__name__) from error
    except (ValueError, RecursionError) as error:
        raise CatalogUnreadable(str(path), f"it is no JSON ({error})") from error
