"""Labelled questions about code: the first sentences of docstrings and comments ask for functions.

The docstrings are taken out of what is searched. There are four sets: ``known``, of our own sources
and the packages that we build on, on docstrings of which the weights of the retriever were chosen,
and ``unseen``, of other packages; ``typescript`` and ``go``, of the repositories in
``code_clones.json``. Of these three only totals were looked at, to choose between weights that
``known`` did not tell apart. Right is a piece that holds the first line
of the function; one that does the same elsewhere is wrong.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from benchmarks.code_clones import LANGUAGES, repositories, write_clones
from benchmarks.code_corpus import write_corpus
from benchmarks.labelled import Labelled, LabelledSet, Scores, Search, Span, scored
from dcf.code import CodeRetriever
from dcf.search import embedder_named

_OURS = ("dcf", "control_plane")
_PACKAGES = (
    *("httpx2", "jsonschema", "mcp", "pydantic", "redis", "regex"),
    *("rich", "starlette", "typer", "uvicorn", "yaml"),
)
_UNSEEN = (
    *("_pytest", "anyio", "attr", "click", "coverage", "dateutil"),
    *("hypothesis", "prompt_toolkit", "pygments", "watchfiles", "xdist"),
)
_SETS = {"known": (_OURS, _PACKAGES), "unseen": ((), _UNSEEN)}
_FIRST = 10
"""Pieces among which the right one should be."""


def places(which: str) -> list[tuple[str, Path]]:
    """Our rooms and the packages of a set, those that are installed."""
    here = Path(__file__).parents[1]
    ours, packages = _SETS[which]
    found = [(name, here / name) for name in ours]
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            found.append((name, Path(spec.origin).parent))
    return found


def labelled_sets(count: int) -> Iterator[LabelledSet]:
    """The four sets, each with ``count`` questions or with those that there are."""
    for name in _SETS:
        yield LabelledSet(name, "code", (), partial(_score, name, count))
    for language in LANGUAGES:
        score = partial(_score, language, count)
        yield LabelledSet(language, "code", list(repositories(language)), score)


async def _score(which: str, count: int, clones: Path, embedder: str) -> Scores:
    with tempfile.TemporaryDirectory(prefix="dcf-code-") as folder:
        root, index = Path(folder, "corpus"), Path(folder, "code.db")
        if which in LANGUAGES:
            questions = await asyncio.to_thread(write_clones, which, clones, root, count)
        else:
            questions = await asyncio.to_thread(write_corpus, places(which), root, count)
        retriever = CodeRetriever(
            root, index, None if embedder == "none" else embedder_named(embedder)
        )
        await retriever.sync()
        asked = [Labelled(one.text, one.path, one.first_line, one.first_line) for one in questions]
        return await scored(asked, _asking(retriever), _pieces(index), root, _FIRST)


def _asking(retriever: CodeRetriever) -> Search:
    async def search(question: str) -> list[Span]:
        hits = await retriever.find(question, limit=_FIRST, tokens=4_000)
        return [(hit.path, hit.first_line, hit.last_line) for hit in hits]

    return search


def _pieces(index: Path) -> dict[Span, str]:
    with closing(sqlite3.connect(index)) as connection:
        rows = connection.execute(
            "SELECT path, first_line, last_line, text FROM pieces p JOIN files f ON f.id = p.file"
        )
        return {(path, first, last): text for path, first, last, text in rows}
