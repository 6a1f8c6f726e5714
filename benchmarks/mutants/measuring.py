"""Mutants are picked and tried, each result kept as soon as it is known."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from rich.console import Console
from rich.progress import track

from benchmarks.mutants.cover import LineMap
from benchmarks.mutants.files import (
    ROOT,
    Json,
    check_source,
    digest_of,
    json_lines,
    source_digest,
    write_json,
)
from benchmarks.mutants.mutation import Mutation, mutations
from benchmarks.mutants.trial import Trial, copy_of_tree

console = Console(width=None if sys.stdout.isatty() else 130)


def pick(data: Path, count: int, seed: int) -> Json:
    """``count`` covered lines and one change of each, which ``data / "picks.json"`` holds then."""
    check_source(data)
    by_line = LineMap(data)
    possible: dict[tuple[str, int], list[Mutation]] = {}
    for file in track(by_line.files(), "reading", console=console):
        covered = {line for line, tests in by_line.tests(file).items() if tests}
        found = mutations(Path(file).read_text(encoding="utf-8"))
        possible |= {(file, line): found[line] for line in sorted(covered & found.keys())}
    random = Random(seed)
    picks: list[Json] = []
    for file, line in random.sample(list(possible), len(possible)):
        if len(picks) == count:
            break
        change = random.choice(possible[file, line])
        if change.counts(Path(file).read_text(encoding="utf-8")):
            picks.append({"id": len(picks), "file": file, **_fields(change)})
    chosen = {
        "commit": _git("rev-parse", "HEAD"),
        "date": _git("show", "-s", "--format=%cs", "HEAD"),
        "source": source_digest(),
        "seed": seed,
        "lines": len(possible),
        "mutants": picks,
    }
    write_json(data / "picks.json", chosen)
    console.print(f"{len(picks)} of {len(possible)} covered lines that can be changed")
    return chosen


def _fields(change: Mutation) -> Json:
    return {"line": change.line, "kind": change.kind, "old": change.old, "new": change.new}


def _change(mutant: Json) -> Mutation:
    return Mutation(mutant["line"], mutant["kind"], mutant["old"], mutant["new"])


def run(data: Path, shard: tuple[int, int], budget_s: float, *, unchanged: bool = False) -> None:
    """Try this shard's part of the picks; each result is a line of ``data / "results.*.jsonl"`` as
    soon as it is known. ``unchanged`` changes nothing: what is noticed then is a false alarm."""
    check_source(data)
    picks = json.loads((data / "picks.json").read_text(encoding="utf-8"))["mutants"]
    _try_all(data, picks, shard, budget_s, unchanged=unchanged)


def recheck(data: Path, before: Path, shard: tuple[int, int], budget_s: float) -> None:
    """The mutants of a report, on the tree as it is now. What a test noticed before is noticed now
    where the changed file, the test's file and the helpers in its folders are the same. The others
    are tried: with the test that noticed it, then with those that run the line."""
    check_source(data)
    old = json.loads(before.read_text(encoding="utf-8"))
    write_json(data / "picks.json", {**old, "commit": _git("rev-parse", "HEAD")})
    _try_all(data, old["mutants"], shard, budget_s, unchanged=False)


def _try_all(
    data: Path,
    mutants: Sequence[Json],
    shard: tuple[int, int],
    budget_s: float,
    *,
    unchanged: bool,
) -> None:
    kind = "control" if unchanged else "results"
    done = {one["id"] for file in data.glob(f"{kind}.*.jsonl") for one in json_lines(file)}
    mine = [one for one in mutants if one["id"] % shard[1] == shard[0] - 1]
    left = [one for one in mine if one["id"] not in done]
    console.print(f"{len(left)} of {len(mine)} are left")
    results = data / f"{kind}.{shard[0]}of{shard[1]}.jsonl"
    by_line = LineMap(data)
    with copy_of_tree(ROOT) as copy, results.open("a", encoding="utf-8") as out:
        trial = Trial(copy, by_line.seconds, budget_s)
        # A process that was killed may have left half a line.
        out.write("\n")
        for mutant in left:
            result = _carried(mutant) or _tried(mutant, trial, by_line, unchanged=unchanged)
            out.write(json.dumps({"id": mutant["id"], **result}) + "\n")
            out.flush()
            where = f"{mutant['file']}:{mutant['line']}"
            console.print(f"{where}  {mutant['kind']}: {result['status']} {result.get('by', '')}")


def _carried(mutant: Json) -> Json | None:
    """The result that still stands, of a mutant that was tried before."""
    if mutant.get("status") != "noticed" or "guard" not in mutant:
        return None
    same = mutant["guard"] == guard(ROOT, mutant["file"], mutant["by"])
    kept = ("status", "by", "how", "guard")
    return {key: mutant[key] for key in kept} | {"carried": True} if same else None


def _tried(mutant: Json, trial: Trial, by_line: LineMap, *, unchanged: bool) -> Json:
    file = mutant["file"]
    source = (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).exists() else ""
    change = _change(mutant)
    line = change.locate(source)
    if line is None:
        return {"status": "gone"}
    tests = by_line.tests(file).get(line, [])
    if (known := mutant.get("by")) and by_line.seconds(known) is not None:
        tests = [known, *(test for test in tests if test != known)]
    result = trial.attempt(file, source if unchanged else change.apply(source), tests)
    if result["status"] == "noticed":
        result["guard"] = guard(ROOT, file, result["by"])
    return {"tests": len(tests), **result}


def guard(root: Path, file: str, test: str) -> str:
    """A digest of what a result depends on first: the changed file, the test's file, and the
    modules in its folders that are not tests."""
    test_file = Path(test.partition("::")[0])
    helpers = {
        one.relative_to(root)
        for folder in test_file.parents
        if folder.parts
        for one in (root / folder).glob("*.py")
        if not one.name.startswith("test_")
    }
    return digest_of(root, sorted({Path(file), test_file, *helpers}))


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
