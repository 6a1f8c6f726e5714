"""Two catalogs: which skills came, which went, and what changed in those that both have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dcf.skills.comparison.compare import Comparison, compare_skills
from dcf.skills.manifest import Manifest
from dcf.skills.version_order import version_order


@dataclass(frozen=True, slots=True)
class TreeComparison:
    """``added`` and ``removed`` are manifestIds; ``compared`` has each skill that differs."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    compared: tuple[Comparison, ...]
    unchanged: int

    @property
    def too_small(self) -> tuple[Comparison, ...]:
        """Those whose version did not go up far enough."""
        return tuple(one for one in self.compared if not one.is_enough)

    def to_json(self) -> dict[str, Any]:
        """``{added, removed, unchanged, compared: [as Comparison.to_json]}``."""
        return {
            "added": list(self.added),
            "removed": list(self.removed),
            "unchanged": self.unchanged,
            "compared": [one.to_json() for one in self.compared],
        }


def compare_trees(before: Iterable[Manifest], after: Iterable[Manifest]) -> TreeComparison:
    """Each new version beside the newest of the same skill that was there before it; a version that
    both have beside itself."""
    old = {manifest.manifest_id: manifest for manifest in before}
    new = {manifest.manifest_id: manifest for manifest in after}
    by_name: dict[str, list[Manifest]] = {}
    for manifest in sorted(old.values(), key=_order):
        by_name.setdefault(manifest.name, []).append(manifest)
    added, compared, unchanged = [], [], 0
    replaced: set[str] = set()
    for manifest in sorted(new.values(), key=_order):
        same = old.get(manifest.manifest_id)
        if same is not None:
            if same.digest == manifest.digest:
                unchanged += 1
            else:
                compared.append(compare_skills(same, manifest))
            continue
        previous = _previous(by_name.get(manifest.name, []), manifest)
        if previous is None:
            added.append(manifest.manifest_id)
        else:
            replaced.add(previous.manifest_id)
            compared.append(compare_skills(previous, manifest))
    removed = [name for name in sorted(old) if name not in new and name not in replaced]
    return TreeComparison(tuple(added), tuple(removed), tuple(compared), unchanged)


def _previous(versions: list[Manifest], manifest: Manifest) -> Manifest | None:
    """The newest version below, else the newest of all: the version went down then."""
    below = [one for one in versions if _order(one) < _order(manifest)]
    found = below or versions
    return found[-1] if found else None


def _order(manifest: Manifest) -> Any:
    return manifest.name, version_order(manifest.version)
