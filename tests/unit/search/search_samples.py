"""A small index, and an embedder that says how often it was asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcf.search import Document, Shape, Vectors, Weights

SHAPE = Shape(fields={"name": 3.0, "text": 1.0}, views=(1.0,))


class Letters:
    """Embeds a text as the counts of its letters, and counts the texts."""

    name = "letters"
    version = "1"
    weights = Weights(words=1.0)

    def __init__(self) -> None:
        self.embedded = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return self.embed_queries(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._row(text) for text in texts])

    def _row(self, text: str) -> Vectors:
        counts = [text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
        row = np.array(counts, dtype=np.float32)
        return row / max(float(np.linalg.norm(row)), 1.0)

    def embed_words(self, words: Sequence[str]) -> Vectors:
        return np.zeros((len(words), 0), dtype=np.float32)


def document(name: str, text: str) -> Document:
    return Document(name, {"name": name, "text": text}, (f"{name}: {text}",))


TEA = document("brew_tea", "Boil water and let the leaves draw.")
COFFEE = document("grindCoffee", "Grind beans, then press.")
BREAD = document("bake.bread", "Knead the dough and bake it.")
ALL = (TEA, COFFEE, BREAD)
