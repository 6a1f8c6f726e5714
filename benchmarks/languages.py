"""How well passages are found in many languages: ``python -m benchmarks.languages FOLDER``.

FOLDER holds clones as ``owner/name``, bare or not. ``languages.json`` says what is read of them: by
repository its commit, its licence and, by language, a file of questions in the form of SQuAD with
its digest. No text of them is here. Every language has 240 passages of an encyclopedia, and
questions that one of them answers; those of XQuAD are the same questions in all languages.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.clones import file_of
from dcf.memory import SYSTEM, Memory, NewAgent, NewPassage, Source, random_id
from dcf.search import EMBEDDERS

_LIST = Path(__file__).with_suffix(".json")
_COMPARED_WITH = "en"
_BELOW = 0.1
# As XQuAD has: more of one article are harder to tell apart.
_PASSAGES = 240
_OF_AN_ARTICLE = 5


def main() -> int:
    """Print a table by language; 1 where a file is not as listed, or where recall is more than 0.1
    below that of English."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.languages", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="clones as owner/name")
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    parser.add_argument("--language", action="append", help="only this one (repeatable)")
    parser.add_argument(
        "--questions", type=int, default=0, help="about so many of each language, spread evenly"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the set as JSON Lines")
    options = parser.parse_args()
    console = Console(width=120)
    sets = list(_sets(options.folder, options.language, console))
    for one in sets:
        asked = one["queries"]
        one["queries"] = asked[:: max(len(asked) // (options.questions or len(asked)), 1)]
    if options.write is not None:
        lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in sets)
        options.write.write_text("".join(lines), encoding="utf-8")
    embedders = options.embedder or EMBEDDERS
    recalls = {one["corpus"]: _recalls(one, embedders) for one in sets}
    console.print(_table(sets, recalls, embedders))
    least = recalls.get(_COMPARED_WITH, {})
    low = [
        f"{language}, {embedder}: more than {_BELOW} below {_COMPARED_WITH}"
        for language, found in recalls.items()
        for embedder, recall in found.items()
        if recall < least.get(embedder, 0) - _BELOW
    ]
    for line in low:
        console.print(line)
    listed = sum(len(one["files"]) for one in _listed().values())
    return 1 if low or len(sets) != len(options.language or range(listed)) else 0


def _listed() -> dict[str, Any]:
    listed: dict[str, Any] = json.loads(_LIST.read_text(encoding="utf-8"))
    return listed


def _sets(
    folder: Path, languages: Sequence[str] | None, console: Console
) -> Iterator[dict[str, Any]]:
    """The questions and passages of each language; files that differ from the list are left out."""
    for repository, listed in _listed().items():
        for language, file in listed["files"].items():
            if languages and language not in languages:
                continue
            content = file_of(folder / repository, listed["commit"], file["path"])
            if hashlib.sha256(content).hexdigest()[:16] != file["digest"]:
                console.print(f"not as listed: {file['path']} in {folder / repository}")
                continue
            yield questions(language, json.loads(content))


def questions(language: str, squad: Mapping[str, Any]) -> dict[str, Any]:
    """``{corpus, docs: [{id, text}], queries: [{query, relevant: [ids]}]}`` of a file of SQuAD: the
    first passages, at most five of an article, with all questions about them."""
    paragraphs = (
        paragraph
        for article in squad["data"]
        for paragraph in article["paragraphs"][:_OF_AN_ARTICLE]
    )
    docs, queries = [], []
    for number, paragraph in enumerate(islice(paragraphs, _PASSAGES)):
        # JSQuAD puts the title of the article before each passage.
        text = paragraph["context"].replace(" [SEP] ", "\n")
        docs.append({"id": str(number), "text": text})
        queries += [
            {"query": one["question"], "relevant": [str(number)]} for one in paragraph["qas"]
        ]
    return {"corpus": language, "docs": docs, "queries": queries}


def _recalls(one: Mapping[str, Any], embedders: Sequence[str]) -> dict[str, float]:
    return {embedder: asyncio.run(measure(one, embedder)) for embedder in embedders}


async def measure(one: Mapping[str, Any], embedder: str) -> float:
    """The share of the right passages among the first ten, the passages being those of an agent."""
    shares = []
    with tempfile.TemporaryDirectory(prefix="dcf-languages-") as folder:
        source = Source(Path(folder) / "memory.db")
        async with Memory.open(source, clock=_now, new_id=random_id, embedder=embedder) as memory:
            agent = await memory.agents.create(NewAgent("reader"), by=SYSTEM, blocks=())
            kept = await memory.passages.insert(
                agent.id, *(NewPassage(doc["text"]) for doc in one["docs"]), by=SYSTEM
            )
            ids = {passage.id: doc["id"] for passage, doc in zip(kept, one["docs"], strict=True)}
            await memory.search.catch_up()
            for asked in one["queries"]:
                found = await memory.search.find(asked["query"], k=10, agent_ids=(agent.id,))
                right = set(asked["relevant"]) & {ids[hit.ref] for hit in found}
                shares.append(len(right) / len(asked["relevant"]))
    return sum(shares) / len(shares)


def _table(
    sets: Sequence[Mapping[str, Any]],
    recalls: Mapping[str, Mapping[str, float]],
    embedders: Sequence[str],
) -> Table:
    shown = Table("language", "passages", "questions", *embedders, title="recall@10", box=None)
    for one in sets:
        figures = (f"{recalls[one['corpus']][embedder]:.3f}" for embedder in embedders)
        counts = (str(len(one[part])) for part in ("docs", "queries"))
        shown.add_row(one["corpus"], *counts, *figures)
    return shown


def _now() -> int:
    return round(time.time() * 1000)


if __name__ == "__main__":
    sys.exit(main())
