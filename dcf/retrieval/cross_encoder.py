"""A reranker in a file: a cross-encoder as ONNX, as sentence-transformers and Optimum export it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from dcf.late_numpy import np
from dcf.retrieval.errors import RerankerFailed
from dcf_agents.installation import extra_command
from dcf_agents.telemetry import switch_off_telemetry

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_LONGEST = 512
"""Tokens of query and text together: what models like BERT have places for."""
_BATCH = 8
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


def tokenizer_beside(model: Path) -> Path:
    """Where the tokenizer of a model is, in the format of Hugging Face's ``tokenizers``."""
    return model.with_name("tokenizer.json")


class CrossEncoder:
    """The model in a file, with its ``tokenizer.json`` beside it; both are loaded when it is first
    asked, in which the time that it has counts too. Its inputs are some of ``input_ids``,
    ``attention_mask`` and ``token_type_ids``, its first output is one number for each pair: of
    shape [pairs] or [pairs, 1]."""

    def __init__(self, model: Path, timeout_s: float) -> None:
        self.name = model.name
        self._model = model
        self._timeout_s = timeout_s
        self._loading = Lock()
        self._loaded: tuple[Tokenizer, Any] | None = None

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The raw outputs. Raises RerankerFailed, at the latest after the next eight pairs when
        the time is over."""
        return await asyncio.to_thread(self._scores, query, texts)

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        until = time.monotonic() + self._timeout_s
        try:
            tokenizer, session = self._ready()
            pairs = tokenizer.encode_batch([(query, text) for text in texts])
            scores = [0.0] * len(pairs)
            # Pairs of like length together: a batch costs as much as if all were its longest.
            order = sorted(range(len(pairs)), key=lambda place: sum(pairs[place].attention_mask))
            for start in range(0, len(order), _BATCH):
                if time.monotonic() > until:
                    raise self._failed(f"it takes longer than {self._timeout_s:g} s")
                places = order[start : start + _BATCH]
                found = self._batch(session, [pairs[place] for place in places])
                for place, score in zip(places, found, strict=True):
                    scores[place] = score
        except RerankerFailed:
            raise
        # ONNX Runtime and tokenizers raise what derives from Exception alone, for whatever is
        # wrong with a file that somebody else made.
        except Exception as error:
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise self._failed(reason.rstrip(".")) from error
        return scores

    def _ready(self) -> tuple[Tokenizer, Any]:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> tuple[Tokenizer, Any]:
        switch_off_telemetry()
        try:
            import onnxruntime
        except ImportError as error:
            reason = f"the package {error.name} is not installed: {extra_command('minilm')}"
            raise self._failed(reason) from error
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(tokenizer_beside(self._model)))
        tokenizer.enable_truncation(_LONGEST)
        padding = tokenizer.padding or {"pad_id": 0, "pad_token": "[PAD]"}
        tokenizer.enable_padding(pad_id=padding["pad_id"], pad_token=padding["pad_token"])
        options = onnxruntime.SessionOptions()
        # As the embedder's: threads that wait turn in circles otherwise.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(
            str(self._model), options, providers=["CPUExecutionProvider"]
        )
        unknown = {one.name for one in session.get_inputs()} - _INPUTS
        if unknown:
            raise self._failed(f"it asks for {', '.join(sorted(unknown))}, unlike a cross-encoder")
        return tokenizer, session

    def _batch(self, session: Any, pairs: Sequence[Encoding]) -> list[float]:
        # All pairs have the length of the longest of them: these need no more than their own.
        longest = max(sum(one.attention_mask) for one in pairs)
        rows = {
            "input_ids": [one.ids for one in pairs],
            "attention_mask": [one.attention_mask for one in pairs],
            "token_type_ids": [one.type_ids for one in pairs],
        }
        feeds = {
            one.name: np.array(rows[one.name], dtype=np.int64)[:, :longest]
            for one in session.get_inputs()
        }
        output = session.run(None, feeds)[0]
        if output.shape not in ((len(pairs),), (len(pairs), 1)):
            shape = "x".join(map(str, output.shape))
            raise self._failed(f"it gives {shape} numbers for {len(pairs)} pairs")
        return [float(score) for score in output.reshape(-1)]

    def _failed(self, reason: str) -> RerankerFailed:
        return RerankerFailed(self.name, reason)
