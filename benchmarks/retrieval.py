"""How well and how fast the right tool is found: ``python -m benchmarks.retrieval FILE...``.

A file has one JSON object a line: ``{corpus, docs: [{id, name, text}], queries: [{query,
relevant: [ids]}]}``. Each doc becomes a skill and is searched as skills are. ``WordLlama``,
``MiniLM`` and ``Words`` are the factories for a scorer of one's own: ``index(docs)``, then
``search(query, k) -> [ids]``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figure import quantile
from dcf.search import EMBEDDERS, embedder_named
from dcf.skills import Manifest, Permissions
from dcf.skills.discovery import SkillSearch


class ToolSearch:
    """Tools as skills, in an index of their own."""

    def __init__(self, embedder: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dcf-retrieval-")
        path = Path(self._folder.name) / "index.db"
        self._search = SkillSearch(path, embedder_named(embedder))
        self._skills: list[Manifest] = []

    def index(self, docs: Iterable[dict[str, Any]]) -> None:
        self._skills = [as_skill(doc) for doc in docs]
        self._search.index.update(map(_document, self._skills))

    def search(self, query: str, k: int) -> list[str]:
        return [hit.id for hit in self._search.index.search(query, k)]

    def search_each(self, queries: Sequence[str], k: int) -> list[list[str]]:
        """As ``search`` for each of the queries, in less time."""
        return [[hit.id for hit in hits] for hits in self._search.index.search_each(queries, k)]


class WordLlama(ToolSearch):
    """The default."""

    def __init__(self) -> None:
        super().__init__("wordllama")


class MiniLM(ToolSearch):
    """The extra."""

    def __init__(self) -> None:
        super().__init__("minilm")


class Words(ToolSearch):
    """No embedder."""

    def __init__(self) -> None:
        super().__init__("none")


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of 1; ``p95_ms`` is the 95th percentile of one search."""

    hit_at_1: float
    recall_at_5: float
    p95_ms: float


def as_skill(doc: dict[str, Any]) -> Manifest:
    """A tool as a skill without directives; a text that begins with the name says it once."""
    name = doc.get("name") or doc["id"]
    head, colon, rest = doc["text"].partition(": ")
    text = rest if colon and _same(head, name) else doc["text"]
    return Manifest(
        manifest_id=doc["id"],
        name=name,
        version="1.0.0",
        description=text,
        directives="",
        tags=(),
        permissions=Permissions(),
        tools=(),
        data_sources=(),
        dependencies=(),
        package_id=None,
        digest=doc["id"],
        raw={},
    )


def measure(path: Path, embedder: str, *, one_by_one: bool = True) -> Score:
    """The score on a file, over the queries of all its corpora. Not ``one_by_one`` they are asked
    together, which finds the same and does not say how long one search takes (0)."""
    firsts: list[float] = []
    recalls: list[float] = []
    took_ms: list[float] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        corpus = json.loads(line)
        search = ToolSearch(embedder)
        search.index(corpus["docs"])
        queries = [one["query"] for one in corpus["queries"]]
        if one_by_one:
            answers = [_timed(search, query, took_ms) for query in queries]
        else:
            answers = search.search_each(queries, 5)
        for one, found in zip(corpus["queries"], answers, strict=True):
            relevant = set(one["relevant"])
            firsts.append(float(found[0] in relevant))
            recalls.append(len(relevant & set(found)) / len(relevant))
    return Score(_mean(firsts), _mean(recalls), quantile(took_ms, 0.95) if took_ms else 0.0)


def _timed(search: ToolSearch, query: str, took_ms: list[float]) -> list[str]:
    began = time.perf_counter()
    found = search.search(query, 5)
    took_ms.append((time.perf_counter() - began) * 1e3)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the scores of the files for every embedder."""
    parser = argparse.ArgumentParser(prog="benchmarks.retrieval", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    options = parser.parse_args(arguments)
    for embedder in options.embedder or EMBEDDERS:
        for path in options.files:
            score = measure(path, embedder)
            print(
                f"{embedder:<10} {path.stem:<16} hit@1 {score.hit_at_1:.3f}"
                f"  recall@5 {score.recall_at_5:.3f}  p95 {score.p95_ms:.1f} ms"
            )


def _document(manifest: Manifest) -> Any:
    from dcf.skills.discovery import skill_document

    return skill_document(manifest)


def _same(head: str, name: str) -> bool:
    return _letters(head) == _letters(name)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(len(values), 1)


if __name__ == "__main__":
    main()
