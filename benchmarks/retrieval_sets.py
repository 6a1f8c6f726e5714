"""All labelled sets of retrieval in one table: ``python -m benchmarks.retrieval_sets``.

The sets are those of ``code_questions`` and ``document_questions``; ``labelled`` says who the peers
are. The repositories that they are made of are fetched by git, each at its listed commit, into
FOLDER, where it does not have them as ``owner/name``. A set without its repository, or that is not
as listed, is named, and all others are measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import code_questions, document_questions
from benchmarks.clones import Clone, NotThere, fetched
from benchmarks.labelled import Found, LabelledSet, Scores, together
from dcf.search import DEFAULT_EMBEDDER, EMBEDDERS

_COUNT = 400


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a set could not be measured."""
    parser = _parser()
    options = parser.parse_args(arguments)
    code = code_questions.labelled_sets(options.count)
    sets = {one.name: one for one in (*code, *document_questions.labelled_sets())}
    unknown = set(options.set or ()).difference(sets)
    if unknown:
        parser.error(f"no set is named {', '.join(sorted(unknown))}; there are {', '.join(sets)}")
    chosen = [sets[name] for name in options.set or sets]
    scores, troubles = measured(chosen, options.clones, options.embedder)
    kinds: dict[str, list[Scores]] = {}
    for name, found in scores.items():
        kinds.setdefault(sets[name].kind, []).append(found)
    totals = {f"all {kind}": together(each) for kind, each in kinds.items()}
    if scores:
        Console(width=120).print(_table({**scores, **totals}, options.embedder))
    if options.json is not None:
        figures = {
            "embedder": options.embedder,
            "sets": {name: _figures(one) for name, one in scores.items()},
            "together": {name: _figures(one) for name, one in totals.items()},
            "not_measured": troubles,
        }
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    for name, trouble in troubles.items():
        _say(f"not measured: {name}: {trouble}")
    return int(bool(troubles))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks.retrieval_sets", description=__doc__.partition(": ")[0]
    )
    parser.add_argument(
        "--clones",
        type=Path,
        metavar="FOLDER",
        default=_cache(),
        help="clones as owner/name; what is not there is fetched (default: %(default)s)",
    )
    parser.add_argument("--set", action="append", help="only this one (repeatable)")
    parser.add_argument(
        "--embedder", choices=EMBEDDERS, default=DEFAULT_EMBEDDER, help="of ours (%(default)s)"
    )
    parser.add_argument(
        "--count", type=int, default=_COUNT, help=f"questions of each set of code ({_COUNT})"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    return parser


def measured(
    sets: Sequence[LabelledSet], clones: Path, embedder: str
) -> tuple[dict[str, Scores], dict[str, str]]:
    """The scores of those that could be measured, and of all others why not."""
    missing: dict[Clone, str] = {}
    for clone in dict.fromkeys(clone for one in sets for clone in one.clones):
        _say(f"{clone.repository} at {clone.commit[:12]}")
        try:
            fetched(clone, clones)
        except NotThere as error:
            missing[clone] = str(error)
    scores, troubles = dict[str, Scores](), dict[str, str]()
    for one in sets:
        lacking = [missing[clone] for clone in one.clones if clone in missing]
        if lacking:
            troubles[one.name] = "; ".join(lacking)
            continue
        _say(f"{one.name}:")
        try:
            scores[one.name] = asyncio.run(one.score(clones, embedder))
        except NotThere as error:
            troubles[one.name] = str(error)
    return scores, troubles


def _cache() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "dcf", "clones")


def _table(scores: Mapping[str, Scores], embedder: str) -> Table:
    peers = next(iter(scores.values())).peers
    columns = ("set", "questions", "k", "ours", *peers, "more than the best other, ± 95 %")
    title = f"hit@1 and recall@k: ours, with {embedder}, and peers over the same pieces"
    shown = Table(*columns, title=title, box=None)
    for name, one in scores.items():
        each = (f"{who.hit_at_1:.3f} {who.recall:.3f}" for who in (one.ours, *one.peers.values()))
        lead = f"{one.lead:+.1f} ± {one.doubt:.1f} points ({one.best_other})"
        shown.add_row(name, str(one.questions), str(one.k), *each, lead)
    return shown


def _figures(one: Scores) -> dict[str, Any]:
    return {
        "questions": one.questions,
        "k": one.k,
        "ours": _shares(one.ours),
        "peers": {name: _shares(found) for name, found in one.peers.items()},
        "best_other": one.best_other,
        "lead_points": round(one.lead, 2),
        "lead_doubt_points": round(one.doubt, 2),
    }


def _shares(found: Found) -> dict[str, float]:
    return {"hit_at_1": found.hit_at_1, "recall": found.recall, "p95_ms": found.p95_ms}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
