"""DOCX as blocks, by the documents reader in its process of its own: lines are paragraphs."""

from __future__ import annotations

import asyncio

from dcf.documents import Reader


def docx_page(data: bytes, file: str) -> str:
    """The document in ``data`` as HTML, a line for each paragraph that has words. Raises
    ``dcf.documents.DocumentProblem``. Not to be called where an event loop runs."""
    return asyncio.run(_page(data, file))


async def _page(data: bytes, file: str) -> str:
    async with Reader() as reader:
        return await reader.page(file, "docx", data)
