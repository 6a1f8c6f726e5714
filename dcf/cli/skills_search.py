"""``dcf skills search``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.search import Change, embedder_named
from dcf.skills import SkillCatalog
from dcf.skills.discovery import Filters, SkillHit, SkillSearch, index_path


def search_skills(
    generated: Path, home: Path, embedder: str, query: str, k: int, filters: Filters
) -> Answer:
    """The ``k`` skills that fit ``query`` best, each with the reason and the price."""
    catalog = SkillCatalog.load(generated)
    path = index_path(home, generated, embedder)
    search = SkillSearch(path, embedder_named(embedder))
    began = time.perf_counter()
    hits = search.search(catalog, query, k, filters)
    took_ms = (time.perf_counter() - began) * 1e3
    fields = {
        "query": query,
        "embedder": embedder,
        "index": str(path),
        "indexed": _counts(search.change),
        "took_ms": round(took_ms, 1),
        "hits": [_entry(hit) for hit in hits],
        "total": len(catalog),
    }
    if not hits:
        return Answer(fields, [f"0 of {len(catalog)} skills pass the filters"])
    return Answer(fields, [_table(hits), f"{len(hits)} of {len(catalog)} skills; index {path}"])


def _entry(hit: SkillHit) -> dict[str, Any]:
    skill = hit.manifest
    return {
        "manifest_id": skill.manifest_id,
        "name": skill.name,
        "version": skill.version,
        "description": skill.description,
        "tags": list(skill.tags),
        "risk_level": skill.permissions.risk_level,
        "egress": skill.permissions.egress,
        **hit.to_json(),
    }


def _counts(change: Change) -> dict[str, int]:
    return {
        "added": change.added,
        "changed": change.changed,
        "removed": change.removed,
        "embedded": change.embedded,
    }


def _table(hits: list[SkillHit]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("skill", "score", "risk", "tokens", "why"):
        right = title in ("score", "tokens")
        table.add_column(title, justify="right" if right else "left", no_wrap=title != "why")
    for hit in hits:
        skill = hit.manifest
        table.add_row(
            Text(f"{skill.name}@{skill.version}"),
            f"{hit.score:.2f}",
            skill.permissions.risk_level,
            f"{hit.price.tokens:,}",
            Text(_why(hit)),
        )
    return table


def _why(hit: SkillHit) -> str:
    """As in ``name: refund; directives: customer, refund; meaning 0.55``."""
    parts = [f"{part}: {', '.join(words)}" for part, words in hit.matched.items()]
    if hit.similarity:
        parts.append(f"meaning {hit.similarity:.2f}")
    return "; ".join(parts) or "nothing matched"
