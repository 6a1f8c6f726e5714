"""``dcf skills search``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer
from dcf.cli.generated_skills import open_skills
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.search import Change, embedder_named
from dcf.secret_form import without_secrets
from dcf.skills.discovery import Filters, InvalidFilter, SkillHit, SkillSearch, index_path

_OPTIONS = {"/max_risk": "--risk", "/max_egress": "--egress", "/versions": "--version"}
_SCORE = "score: how well one fits beside the others, about 0 to 1, by meaning, words and name"


def search_skills(
    generated: Path, home: Path, embedder: str, query: str, k: int, filters: Filters
) -> Answer:
    """The ``k`` skills that fit ``query`` best, each with the reason and the price."""
    catalog = open_skills(generated)
    # An answer tells the question again.
    query = without_secrets(query)
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
    known = counted(len(catalog), "skill", "skills")
    if not hits:
        return Answer(fields, [f"0 of {known} pass the filters"])
    return Answer(fields, [_listing(hits), f"{len(hits)} of {known}; {_SCORE}"])


def chosen_filters(
    tags: Sequence[str], risk: str | None, egress: str | None, versions: str | None, *, newest: bool
) -> Filters:
    """The filters of a command line. Raises BadInput, which names them as options."""
    try:
        return Filters(
            tags=tuple(tags),
            max_risk=risk,
            max_egress=egress,
            versions=versions,
            newest_only=newest,
        )
    except InvalidFilter as invalid:
        named = [replace(one, path="", file=_OPTIONS[one.path]) for one in invalid.problems]
        raise BadInput(named) from invalid


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


def _listing(hits: list[SkillHit]) -> Table:
    """Three lines a skill: its name with the numbers, what it is for, why it was found."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for hit in hits:
        skill = hit.manifest
        ref = f"{skill.name}@{skill.version}"
        risk, tokens = skill.permissions.risk_level, f"{hit.price.tokens:,}"
        table.add_row(
            Text.assemble((ref, "bold"), f"  score {hit.score:.2f}  risk {risk}  {tokens} tokens")
        )
        if skill.description:
            about = " ".join(skill.description.split())
            table.add_row(Text(f"  {about}", no_wrap=True, overflow="ellipsis"))
        table.add_row(Text(f"  {_why(hit)}", "dim", overflow="fold"))
    return table


def _why(hit: SkillHit) -> str:
    """As in ``name: refund; directives: customer, refund; meaning 0.55``."""
    parts = [f"{part}: {', '.join(words)}" for part, words in hit.matched.items()]
    if hit.similarity:
        parts.append(f"meaning {hit.similarity:.2f}")
    return "; ".join(parts) or "nothing matched"
