"""What was noticed and what lives, and how two reports differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from difflib import unified_diff
from pathlib import Path

from benchmarks.mutants.files import Json, json_lines
from dcf.evidence import wilson

# A budget that ended with all tests green is a mutant that lives.
COUNTED = ("noticed", "survived", "survived within budget")


def report(data: Path) -> Json:
    """The picks of ``data`` with their results, and the figures."""
    picks = json.loads((data / "picks.json").read_text(encoding="utf-8"))
    results = {one["id"]: one for file in data.glob("results.*.jsonl") for one in json_lines(file)}
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
    not lower. Of the first's, a tenth may be gone: more, and the rest says too little."""
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
    gone = len(sides[0]) - len(both)
    if gone:
        print(f"{gone} of {len(sides[0])} are not tried after, for their lines changed")
    noticed = [sum(side[one]["status"] == "noticed" for one in both) for side in sides]
    return bool(both and gone <= len(sides[0]) / 10 and noticed[1] >= noticed[0])


def _share(mutants: Iterable[Json]) -> str:
    statuses = [one["status"] for one in mutants if one["status"] in COUNTED]
    noticed = statuses.count("noticed")
    low, high = wilson(noticed, len(statuses))
    share = noticed / max(len(statuses), 1)
    return f"noticed {share:.1%} ({noticed} of {len(statuses)}; 95 %: {low:.1%} to {high:.1%})"
