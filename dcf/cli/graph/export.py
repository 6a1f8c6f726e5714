"""``dcf graph export``."""

from __future__ import annotations

import json
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from dcf.cli.answer import Answer
from dcf.cli.graph.graphml import graphml_to
from dcf.cli.graph.reading import reading
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.cli.whole_file import whole_file
from dcf.cli.wording import counted
from dcf.knowledge import Knowledge
from dcf.knowledge.asking import Chosen, chosen, exported
from dcf.problem import Problem


async def export_graph(
    settings: Settings, screen: Screen, file: Path, groups: list[str], *, force: bool
) -> Answer:
    """Write the graph to ``file``, "-" for stdout; it appears there when it is whole. Where the
    name ends in ``.graphml``, that is what is written. Raises BadInput."""
    to_stdout = str(file) == "-"
    _check(file, screen, force=force)
    where = chosen(groups)
    async with reading(settings, screen) as knowledge:
        with screen.working("writing"):
            if to_stdout:
                nodes, edges = await _write(knowledge, where, sys.stdout)
                return Answer({"nodes": nodes, "edges": edges})
            with whole_file(file, overwrite=force) as raw:
                out = TextIOWrapper(raw, encoding="utf-8", write_through=True)
                write = _write_graphml if file.suffix.lower() == ".graphml" else _write
                nodes, edges = await write(knowledge, where, out)
                out.detach()
    told = f"{counted(nodes, 'node', 'nodes')} and {counted(edges, 'edge', 'edges')}"
    return Answer({"file": str(file), "nodes": nodes, "edges": edges}, [f"{file}: {told}"])


def _check(file: Path, screen: Screen, *, force: bool) -> None:
    if str(file) == "-":
        if screen.as_json:
            hint = "name a file, or leave --json out: the lines are JSON"
            problem = Problem("CLI_OUT", "stdout cannot take both", hint=hint, file="FILE")
            raise BadInput([problem])
    elif file.exists() and not file.is_char_device() and not force:
        problem = Problem("CLI_OUT", "there is one already", hint="--force", file=str(file))
        raise BadInput([problem])


async def _write(knowledge: Knowledge, where: Chosen, lines: TextIO) -> tuple[int, int]:
    nodes = edges = 0
    async for one in exported(knowledge.graph, where):
        lines.write(json.dumps(one, ensure_ascii=False) + "\n")
        nodes += "node" in one
        edges += "edge" in one
    return nodes, edges


async def _write_graphml(knowledge: Knowledge, where: Chosen, out: TextIO) -> tuple[int, int]:
    nodes = edges = 0
    with graphml_to(out) as graphml:
        async for one in exported(knowledge.graph, where):
            graphml.write(one)
            nodes += "node" in one
            edges += "edge" in one
    return nodes, edges
