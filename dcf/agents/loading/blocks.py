"""The texts that a skill brings along, as blocks: its directives, and its data in pieces."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from dcf.skills import DataSource, Manifest

CHUNK = 4900
"""Characters of one piece of data."""

Destination = Literal["core_memory", "archival_memory", "working_memory"]


@dataclass(frozen=True, slots=True)
class Block:
    """A labelled text. The ``id`` is made of label and text, so that two versions of a skill with
    the same text share it and two with different texts do not."""

    id: str
    label: str
    value: str
    destination: str


def directives_block(manifest: Manifest) -> Block:
    """The instructions of a skill: ``skill_directives_{name}_{manifestId}``."""
    label = f"skill_directives_{manifest.name}_{manifest.manifest_id}"
    return _block(label, manifest.directives, "core_memory")


def data_blocks(manifest: Manifest) -> list[Block]:
    """The data of a skill in pieces of 4,900 characters: ``skill_ds_{name}_{id}``, and where there
    are several ``…_chunk_{i}_of_{n}``, counted from 1."""
    return [block for source in manifest.data_sources for block in _pieces(manifest.name, source)]


def _pieces(skill: str, source: DataSource) -> list[Block]:
    label = f"skill_ds_{skill}_{source.id}"
    texts = [source.text[at : at + CHUNK] for at in range(0, len(source.text), CHUNK)] or [""]
    if len(texts) == 1:
        return [_block(label, texts[0], source.destination)]
    return [
        _block(f"{label}_chunk_{number}_of_{len(texts)}", text, source.destination)
        for number, text in enumerate(texts, 1)
    ]


def _block(label: str, value: str, destination: str) -> Block:
    content = "\0".join((label, destination, value))
    name = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:24]
    return Block(f"block-{name}", label, value, destination)
