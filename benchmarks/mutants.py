"""How much of what the product does is noticed by its tests: covered lines are changed, one at a
time, and the tests that run the line should fail.

  python -m benchmarks.mutants cover                 which test runs which line (20 minutes)
  python -m benchmarks.mutants pick --count 200      choose lines and changes, by a seed
  python -m benchmarks.mutants run --shard 1/2       try them; each of n processes takes a share
  python -m benchmarks.mutants report --json before.json

  python -m benchmarks.mutants cover --data build/after          after a change of tests
  python -m benchmarks.mutants recheck before.json --data build/after
  python -m benchmarks.mutants report --data build/after --json after.json
  python -m benchmarks.mutants report --compare before.json after.json

Each step can be killed at any point and goes on where it was. A change is made in a copy of the
tree, never in the tree itself. Acceptance tests are left out: their work is done by processes of
their own, whose lines nobody counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from random import Random
from typing import Any

from coverage import Coverage, CoverageData
from rich.console import Console
from rich.progress import track

from benchmarks.mutant_trial import Trial, copy_of_tree
from benchmarks.mutations import Mutation, mutations
from dcf.evidence import wilson

ROOT = Path(__file__).resolve().parent.parent
SUITES = ("tests/unit", "tests/contract", "tests/integration", "tests/simulation")
SOURCES = ("control_plane", "dcf")
# A budget that ended with all tests green is a mutant that lives.
COUNTED = ("noticed", "survived", "survived within budget")

Json = dict[str, Any]
console = Console(width=None if sys.stdout.isatty() else 130)


def cover(data: Path, suites: Sequence[str], jobs: int) -> None:
    """Run the suites folder by folder, each into one file of ``data / "cover"``, and combine them.
    A folder whose file is there is not run again."""
    parts = data / "cover"
    parts.mkdir(parents=True, exist_ok=True)
    _same_source(data)
    folders = sorted({file.parent for suite in suites for file in Path(suite).rglob("test_*.py")})
    for folder in folders:
        name = ".".join(folder.parts[1:])
        if (parts / f"{name}.sqlite").exists():
            continue
        console.print(f"{folder} …")
        with tempfile.TemporaryDirectory(dir=data) as scratch:
            measured, witness = Path(scratch, "sqlite"), Path(scratch, "witness")
            command = [sys.executable, "-m", "pytest", *sorted(map(str, folder.glob("test_*.py")))]
            command += ["-n", str(jobs), "--dist", "worksteal", "--hypothesis-seed=0"]
            command += ["--cov", "--cov-context=test", "--cov-report=", "--timeout=300"]
            command += ["-p", "benchmarks.witness", "--witness", str(witness)]
            env = {**os.environ, "COVERAGE_FILE": str(measured), "COVERAGE_CORE": "ctrace"}
            status = subprocess.run(command, env=env, check=False).returncode
            # 1: some test failed. It is left out, since a test that fails anyway notices nothing.
            if status not in (0, 1) or not measured.exists():
                raise SystemExit(f"{folder}: pytest ended with {status}, see above; run it again")
            witness.rename(parts / f"{name}.jsonl")
            measured.rename(parts / f"{name}.sqlite")
    console.print("combining …")
    whole = Coverage(data_file=str(data / "map.sqlite"))
    whole.erase()
    whole.combine([str(parts / f"{'.'.join(one.parts[1:])}.sqlite") for one in folders], keep=True)
    whole.save()
    durations, failed = _durations(parts)
    (data / "tests.json").write_text(json.dumps(durations), encoding="utf-8")
    console.print(f"{len(durations)} tests; left out, since they failed: {sorted(failed)}")


def _durations(parts: Path) -> tuple[dict[str, float], set[str]]:
    """Seconds of each test that passed, and the tests that did not."""
    durations: Counter[str] = Counter()
    passed: set[str] = set()
    failed: set[str] = set()
    for file in parts.glob("*.jsonl"):
        for line in _lines(file):
            durations[line["test"]] += line.get("seconds", 0)
            passed |= {line["test"]} if line.get("outcome") == "passed" else set()
            failed |= {line["test"]} if line.get("outcome") == "failed" else set()
    return {test: round(durations[test], 3) for test in sorted(passed - failed)}, failed


class LineMap:
    """Which tests run a line, as `cover` found it in ``data``."""

    def __init__(self, data: Path) -> None:
        if not (data / "tests.json").exists():
            raise SystemExit(f"{data} holds no map: run `python -m benchmarks.mutants cover` first")
        self._durations: dict[str, float] = json.loads((data / "tests.json").read_text("utf-8"))
        self._data = CoverageData(str(data / "map.sqlite"))
        self._data.read()

    def files(self) -> list[str]:
        """The measured files, from the root of the tree."""
        return sorted(self._data.measured_files())

    def seconds(self, test: str) -> float | None:
        """What the test took, None for one that there is not or that failed."""
        return self._durations.get(test)

    def tests(self, file: str) -> dict[int, list[str]]:
        """For each line the tests that ran it and passed, the fastest first."""
        found = {}
        for line, contexts in self._data.contexts_by_lineno(file).items():
            tests = {context.rpartition("|")[0] for context in contexts} & self._durations.keys()
            found[line] = sorted(tests, key=lambda test: (self._durations[test], test))
        return found


def pick(data: Path, count: int, seed: int) -> Json:
    """``count`` covered lines and one change of each, which ``data / "picks.json"`` holds then."""
    _same_source(data)
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
        "source": _source_digest(),
        "seed": seed,
        "lines": len(possible),
        "mutants": picks,
    }
    _write(data / "picks.json", chosen)
    console.print(f"{len(picks)} of {len(possible)} covered lines that can be changed")
    return chosen


def _fields(change: Mutation) -> Json:
    return {"line": change.line, "kind": change.kind, "old": change.old, "new": change.new}


def _change(mutant: Mapping[str, Any]) -> Mutation:
    return Mutation(mutant["line"], mutant["kind"], mutant["old"], mutant["new"])


def run(data: Path, shard: tuple[int, int], budget_s: float, *, unchanged: bool = False) -> None:
    """Try this shard's part of the picks; each result is a line of ``data / "results.*.jsonl"`` as
    soon as it is known. ``unchanged`` changes nothing: what is noticed then is a false alarm."""
    _same_source(data)
    picks = json.loads((data / "picks.json").read_text(encoding="utf-8"))["mutants"]
    _try_all(data, picks, shard, budget_s, unchanged=unchanged)


def recheck(data: Path, before: Path, shard: tuple[int, int], budget_s: float) -> None:
    """The mutants of a report, on the tree as it is now. What a test noticed before is noticed now
    where the changed file, the test's file and the helpers beside and above it are the same. What
    else there is is tried: with the test that noticed it, then with those that run the line."""
    _same_source(data)
    old = json.loads(before.read_text(encoding="utf-8"))
    _write(data / "picks.json", {**old, "commit": _git("rev-parse", "HEAD")})
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
    done = {one["id"] for file in data.glob(f"{kind}.*.jsonl") for one in _lines(file)}
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
    modules beside and above it that are no tests."""
    test_file = Path(test.partition("::")[0])
    helpers = {
        one.relative_to(root)
        for folder in test_file.parents
        if folder.parts
        for one in (root / folder).glob("*.py")
        if not one.name.startswith("test_")
    }
    return _digest(root, sorted({Path(file), test_file, *helpers}))


def report(data: Path) -> Json:
    """The picks of ``data`` with their results, and the figures."""
    picks = json.loads((data / "picks.json").read_text(encoding="utf-8"))
    results = {one["id"]: one for file in data.glob("results.*.jsonl") for one in _lines(file)}
    plain = ("id", "file", "line", "kind", "old", "new")
    mutants = [
        {key: mutant[key] for key in plain} | results[mutant["id"]]
        for mutant in picks["mutants"]
        if mutant["id"] in results
    ]
    statuses = dict(Counter(one["status"] for one in mutants))
    return {**picks, "picked": len(picks["mutants"]), "statuses": statuses, "mutants": mutants}


def show(result: Json) -> None:
    """Print the figures and each mutant that lives."""
    for one in result["mutants"]:
        if one["status"] not in ("noticed", "gone"):
            print(f"\n{one['file']}:{one['line']}  {one['kind']}: {one['status']}", end="")
            print(f" ({one.get('ran', 0)} of {one.get('tests', 0)} tests)")
            diff = unified_diff(one["old"].split("\n"), one["new"].split("\n"), n=0, lineterm="")
            print("\n".join(line for line in diff if line[:3] not in ("---", "+++", "@@ ")))
    carried = sum(bool(one.get("carried")) for one in result["mutants"])
    print(f"\n{len(result['mutants'])} of {result['picked']} tried, {carried} of them before")
    print(", ".join(f"{status}: {count}" for status, count in sorted(result["statuses"].items())))
    print(_share(result["mutants"]))


def compare(before: Json, after: Json) -> bool:
    """Print both shares, of the mutants that both tried, and what differs; whether the second is
    not lower."""
    sides = [
        {one["id"]: one for one in side["mutants"] if one["status"] in COUNTED}
        for side in (before, after)
    ]
    both = sorted(sides[0].keys() & sides[1].keys())
    for name, side in zip(("before", "after"), sides, strict=True):
        print(f"{name:<7}{_share([side[one] for one in both])}")
    for one in both:
        old, new = (side[one] for side in sides)
        if (old["status"] == "noticed") != (new["status"] == "noticed"):
            print(f"{new['file']}:{new['line']}  {old['status']} -> {new['status']}")
    noticed = [sum(side[one]["status"] == "noticed" for one in both) for side in sides]
    return noticed[1] >= noticed[0]


def _share(mutants: Iterable[Json]) -> str:
    statuses = [one["status"] for one in mutants if one["status"] in COUNTED]
    noticed = statuses.count("noticed")
    low, high = wilson(noticed, len(statuses))
    share = noticed / max(len(statuses), 1)
    return f"noticed {share:.1%} ({noticed} of {len(statuses)}; 95 %: {low:.1%} to {high:.1%})"


def _lines(file: Path) -> Iterator[Json]:
    """The JSON lines of a file whose writer may have been killed in the middle of one."""
    for line in file.read_text(encoding="utf-8").split("\n"):
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def _write(path: Path, value: Json) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _digest(root: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        content = (root / file).read_bytes() if (root / file).exists() else b"none"
        digest.update(f"{file} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:32]


def _source_digest() -> str:
    files = (one for source in SOURCES for one in (ROOT / source).rglob("*.py"))
    return _digest(ROOT, sorted(one.relative_to(ROOT) for one in files))


def _same_source(data: Path) -> None:
    """A map of lines is of one source."""
    data.mkdir(parents=True, exist_ok=True)
    noted = data / "source"
    if not noted.exists():
        noted.write_text(_source_digest(), encoding="utf-8")
    if noted.read_text(encoding="utf-8") != _source_digest():
        raise SystemExit(
            f"{data} is of another state of {' and '.join(SOURCES)}: take another folder (--data)"
        )


def _shard(text: str) -> tuple[int, int]:
    mine, _, of = text.partition("/")
    if not (mine.isdigit() and of.isdigit() and 1 <= int(mine) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is no k/n with 1 <= k <= n, such as 1/2")
    return int(mine), int(of)


def main(arguments: Sequence[str] | None = None) -> int:
    """0; 1 where a comparison shows that less is noticed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, default=Path("build/mutants"), metavar="FOLDER")
    tries = argparse.ArgumentParser(add_help=False)
    tries.add_argument("--shard", type=_shard, default=(1, 1), metavar="K/N")
    tries.add_argument("--budget", type=float, default=120, metavar="SECONDS", help="for a mutant")
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("cover", parents=[common], help="which test runs which line")
    step.add_argument("--jobs", type=int, default=2)
    step.add_argument("suites", nargs="*", default=SUITES, metavar="SUITE")
    step = steps.add_parser("pick", parents=[common], help="choose lines and changes")
    step.add_argument("--count", type=int, default=200)
    step.add_argument("--seed", type=int, default=23)
    step = steps.add_parser("run", parents=[common, tries], help="try what was picked")
    step.add_argument("--unchanged", action="store_true", help="change nothing: false alarms")
    step = steps.add_parser("recheck", parents=[common, tries], help="try a report's mutants again")
    step.add_argument("before", type=Path, metavar="REPORT")
    step = steps.add_parser("report", parents=[common], help="the share noticed; who lives")
    step.add_argument("--json", type=Path, metavar="FILE", help="write the report there too")
    step.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args(arguments)
    # Told to end, it still ends the tests that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    does: dict[str, Callable[[], object]] = {
        "cover": lambda: cover(options.data, options.suites, options.jobs),
        "pick": lambda: pick(options.data, options.count, options.seed),
        "run": lambda: run(
            options.data, options.shard, options.budget, unchanged=options.unchanged
        ),
        "recheck": lambda: recheck(options.data, options.before, options.shard, options.budget),
    }
    if options.step != "report":
        does[options.step]()
    elif options.compare:
        before, after = (json.loads(one.read_text(encoding="utf-8")) for one in options.compare)
        return 0 if compare(before, after) else 1
    else:
        result = report(options.data)
        show(result)
        if options.json:
            _write(options.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
