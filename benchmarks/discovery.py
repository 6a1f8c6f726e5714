"""Ten thousand skills: how long indexing and searching take, and what they keep in memory:
``python -m benchmarks.discovery``."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from benchmarks.figure import Figure, quantile
from dcf.search import embedder_named
from dcf.skills import Manifest, Permissions, SkillCatalog
from dcf.skills.discovery import SkillSearch

_VERBS = ("book", "send", "check", "cancel", "price", "refund", "track", "print", "sign", "merge")
_THINGS = ("parcel", "invoice", "ticket", "tenant", "recipe", "garden", "engine", "lecture", "boat")
_ENDS = ("for a customer", "before noon", "with a receipt", "in two steps", "by mail")


def discovery(scratch: Path, skills: int = 10_000, searches: int = 200) -> list[Figure]:
    """Indexing and searching with the default embedder, in a file of its own."""
    chance = random.Random(7)
    made = SkillCatalog(_skill(number, chance) for number in range(skills))
    search = SkillSearch(scratch / "skills.db", embedder_named("wordllama"))
    before = _resident_mb()
    began = time.perf_counter()
    search.search(made, "warm up")
    indexed_s = time.perf_counter() - began
    took_ms = []
    for _ in range(searches):
        query = f"{_sentence(chance)} {_sentence(chance)}"
        began = time.perf_counter()
        search.search(made, query)
        took_ms.append((time.perf_counter() - began) * 1e3)
    memory_mb = _resident_mb() - before
    changed = SkillCatalog([_skill(0, chance), *list(made)[1:]])
    began = time.perf_counter()
    search.search(changed, "warm up")
    again_s = time.perf_counter() - began
    return [
        Figure(f"{skills:,} skills indexed", indexed_s, "s"),
        Figure(f"search among {skills:,} skills, p50", quantile(took_ms, 0.5), "ms"),
        Figure(f"search among {skills:,} skills, p95", quantile(took_ms, 0.95), "ms"),
        Figure("one of them changed: indexed and searched", again_s, "s"),
        Figure("index and skills searched, resident", memory_mb, "MB"),
        Figure("index on disk", search.index.path.stat().st_size / 1e6, "MB"),
    ]


def _skill(number: int, chance: random.Random) -> Manifest:
    verb, thing = chance.choice(_VERBS), chance.choice(_THINGS)
    name = f"{thing}.{verb}_{number}"
    return Manifest(
        manifest_id=f"skill.{name}@1.0.0",
        name=name,
        version="1.0.0",
        description=f"{verb.title()} a {thing} {chance.choice(_ENDS)}. {_sentence(chance)}",
        directives=" ".join(_sentence(chance) for _ in range(8)),
        tags=(thing,),
        permissions=Permissions(),
        tools=(),
        data_sources=(),
        dependencies=(),
        package_id=None,
        digest=f"{number} {chance.random()}",
        raw={},
    )


def _sentence(chance: random.Random) -> str:
    verb, thing, other = chance.choice(_VERBS), chance.choice(_THINGS), chance.choice(_THINGS)
    rare = f"case{chance.randrange(5_000)}"
    return f"{verb.title()} the {thing} and the {other} {chance.choice(_ENDS)}, see {rare}."


def _resident_mb() -> float:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no resident size")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dcf-discovery-") as folder:
        for figure in discovery(Path(folder)):
            print(f"{figure.name:<48} {figure.value:>8.1f} {figure.unit}")
