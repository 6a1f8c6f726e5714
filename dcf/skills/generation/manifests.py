"""The manifests of a source folder, without writing them."""

from __future__ import annotations

from pathlib import Path

from dcf.problem import Problem
from dcf.skills.generation.artefacts import manifest_documents
from dcf.skills.generation.sources import read_sources
from dcf.skills.manifest import Manifest


def manifests_of(skills_src_dir: Path) -> tuple[list[Manifest], list[Problem]]:
    """The skills of the sources by id, and their problems; with errors there are no skills."""
    sources = read_sources(skills_src_dir)
    if not sources.ok:
        return [], list(sources.problems)
    documents = manifest_documents(sources.tree, sources.tools)
    return [Manifest.from_document(document) for document in documents], list(sources.problems)
