"""Skills found by what somebody wants to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dcf.search import Change, Embedder, Hit, IndexDamaged, SearchIndex
from dcf.skills.catalog import SkillCatalog
from dcf.skills.discovery.filters import Filters
from dcf.skills.discovery.form import SKILL_SHAPE, skill_document
from dcf.skills.discovery.price import Price, price_of
from dcf.skills.manifest import Manifest

NO_FILTERS = Filters()
_FILTERS_KEPT = 15


@dataclass(frozen=True, slots=True)
class SkillHit:
    """A skill that was found. ``matched`` has the words of the query by part of the skill,
    ``similarity`` says how near its meaning is (1: the same), ``named`` how far the query covers
    its name, ``length`` how much its description says; ``price`` is what loading it costs."""

    manifest: Manifest
    score: float
    similarity: float
    named: float
    length: float
    matched: Mapping[str, list[str]]
    price: Price

    def to_json(self) -> dict[str, Any]:
        return {
            "score": round(self.score, 4),
            "why": {
                "matched": {part: list(words) for part, words in self.matched.items()},
                "similarity": round(self.similarity, 4),
                "named": round(self.named, 4),
                "length": round(self.length, 4),
            },
            "price": self.price.to_json(),
        }


class SkillSearch:
    """Searches skills with one index file, which follows what it is given.

    Give each call the whole catalog: what changed since the last call is indexed first.
    """

    def __init__(self, path: Path, embedder: Embedder) -> None:
        self.index = SearchIndex(path, SKILL_SHAPE, embedder)
        self.change = Change()
        self._source: Iterable[Manifest] | None = None
        self._by_id: Mapping[str, Manifest] = {}
        self._known: tuple[str, ...] = ()
        self._passing: dict[Filters, frozenset[str]] = {}

    def search(
        self,
        manifests: Iterable[Manifest],
        query: str,
        k: int = 10,
        filters: Filters = NO_FILTERS,
    ) -> list[SkillHit]:
        """The ``k`` skills that fit best; all that pass the filters, where there are no more.

        ``change`` says afterwards what had to be indexed. Raises ``EmptyQuery``, ``IndexUnusable``.
        """
        by_id = self._follow(manifests)
        among = self._among(filters)
        try:
            hits = self.index.search(query, k, among)
        except IndexDamaged:
            self._source, self._known = None, ()  # the file is gone: all is brought again
            by_id = self._follow(manifests)
            hits = self.index.search(query, k, among)
        return [_skill_hit(hit, by_id[hit.id]) for hit in hits if hit.id in by_id]

    def _follow(self, manifests: Iterable[Manifest]) -> Mapping[str, Manifest]:
        """The skills by id, indexed. By their digests, so that nothing is read from disk while
        nothing changes; a catalog never changes, so that the same one need not be looked at."""
        self.change = Change()
        if isinstance(manifests, SkillCatalog) and manifests is self._source:
            return self._by_id
        by_id = {manifest.manifest_id: manifest for manifest in manifests}
        known = tuple(manifest.digest for manifest in by_id.values())
        if known != self._known:
            self.change = self.index.update(skill_document(one) for one in by_id.values())
            self._passing = {}
        self._source, self._by_id, self._known = manifests, by_id, known
        return by_id

    def _among(self, filters: Filters) -> frozenset[str] | None:
        """The ids that pass, None for all; kept while the skills stay: among thousands it takes
        longer to filter than to search."""
        passing = self._passing.get(filters)
        if passing is None:
            chosen = filters.choose(self._by_id.values())
            passing = frozenset(manifest.manifest_id for manifest in chosen)
            self._passing = {**dict(list(self._passing.items())[-_FILTERS_KEPT:]), filters: passing}
        return None if len(passing) == len(self._by_id) else passing


def index_path(home: Path, generated: Path, embedder: str) -> Path:
    """Where the index of the skills in ``generated`` lies: one for each folder and embedder."""
    place = sha256(str(generated.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return home / "search" / f"skills-{embedder}-{place}.db"


def _skill_hit(hit: Hit, manifest: Manifest) -> SkillHit:
    price = price_of(manifest)
    return SkillHit(manifest, hit.score, hit.similarity, hit.named, hit.length, hit.matched, price)
