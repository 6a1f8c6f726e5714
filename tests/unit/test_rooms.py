"""Rooms are entered by their front door: other rooms import from a room's ``__init__`` only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from dcf.worker import process

REPOSITORY = Path(__file__).parents[2]
FACES = {
    # Rooms inside rooms that have a face of their own, for what most of the outer room's users do
    # without, and modules that are nothing but a face.
    "control_plane.embedded",
    "control_plane.twin",
    "dcf.advisors.strategist",
    "dcf.agents.files",
    "dcf.agents.letta",
    "dcf.agents.loading",
    "dcf.agents.templates",
    "dcf.agents.models",
    "dcf.asl.maps",
    "dcf.asl.trial",
    "dcf.asl.vocabulary",
    "dcf.knowledge.asking",
    "dcf.knowledge.graphiti",
    "dcf.mcp.experiment",
    "dcf.mcp.graph",
    "dcf.memory.consolidation",
    "dcf.memory.extraction",
    "dcf.memory.rules",
    "dcf.retrieval.serving",
    "dcf.sessions.archive",
    "dcf.sessions.companions",
    "dcf.sessions.conductor",
    "dcf.sessions.guidance",
    "dcf.sessions.rendering",
    "dcf.skills.agent_skills",
    "dcf.skills.comparison",
    "dcf.skills.complexity",
    "dcf.skills.discovery",
    "dcf.tools.commands",
    "dcf.tools.recorder",
    "dcf.tools.serving",
    "dcf.tools.stub",
}


def test_no_room_imports_past_the_face_of_another() -> None:
    sources = [*(REPOSITORY / "dcf").rglob("*.py"), *(REPOSITORY / "control_plane").rglob("*.py")]
    assert len(sources) > 500
    assert sorted(past for source in sources for past in _past_a_face(source)) == []


def test_every_face_says_what_it_exports() -> None:
    rooms = {_room(_module(file)) for file in (REPOSITORY / "dcf").glob("*/__init__.py")}
    assert [face for face in sorted(rooms | FACES) if not _exports(face)] == []


def test_every_name_of_a_face_is_there() -> None:
    faces = {_room(_module(file)) for file in (REPOSITORY / "dcf").glob("*/__init__.py")}
    missing = [
        f"{face}.{name}"
        for face in sorted(faces | FACES | {"control_plane"})
        for name in sorted(_exports(face))
        if not hasattr(import_module(face), name)
    ]
    assert missing == []


def test_a_worker_loads_every_room_that_it_uses_before_it_has_leases_to_keep() -> None:
    used = {
        _room(module)
        for source in (REPOSITORY / "dcf" / "worker").rglob("*.py")
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        for _, module, _ in _imports(node)
        if _is_package(_room(module))
    }
    assert used - set(process.LOADED_FIRST) == set()


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Up to 3.11.4 Python goes on behind an attempt that failed in the middle of such a group
    (https://github.com/python/cpython/issues/106052). An atomic group is right in all versions."""
    sources = [*(REPOSITORY / "dcf").rglob("*.py"), *(REPOSITORY / "control_plane").rglob("*.py")]
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{+[\d,]*\}+)\+")
    assert possessive.search("(?:ab?c)++")
    assert possessive.search(r"(?:[^a]|b){3,}+")
    found = [
        f"{source.relative_to(REPOSITORY)}:{number}"
        for source in sources
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if possessive.search(line)
    ]
    assert found == []


def _past_a_face(source: Path) -> Iterator[str]:
    home = _room(_module(source))
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        for line, module, name in _imports(node):
            room = _room(module)
            if room == home or not _is_package(room):
                continue
            if module not in FACES | {room} or (
                name and name not in _exports(module) and f"{module}.{name}" not in FACES
            ):
                yield f"{source.relative_to(REPOSITORY)}:{line} {module}.{name}"


def _imports(node: ast.AST) -> Iterator[tuple[int, str, str]]:
    """(line, module, name) of what is ours; ``import a.b`` has no name."""
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        found = [(node.module or "", alias.name) for alias in node.names]
        # `from dcf import skills` is `import dcf.skills`.
        found = [
            (f"dcf.{name}", "") if module == "dcf" else (module, name) for module, name in found
        ]
    elif isinstance(node, ast.Import):
        found = [(alias.name, "") for alias in node.names]
    else:
        return
    for module, name in found:
        if module.split(".")[0] in ("dcf", "control_plane"):
            yield node.lineno, module, name


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[0] if parts[0] == "control_plane" else ".".join(parts[:2])


def _module(source: Path) -> str:
    parts = source.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _is_package(module: str) -> bool:
    return (REPOSITORY / Path(*module.split(".")) / "__init__.py").is_file()


@cache
def _exports(face: str) -> frozenset[str]:
    """``__all__`` of a package or a module."""
    file = REPOSITORY / Path(*face.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    return frozenset(
        name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        for name in ast.literal_eval(node.value)
    )


def test_a_worker_starts_without_the_packages_of_extras() -> None:
    """`make demo` and `pip install` without extras have none of them."""
    program = (
        "import sys\n"
        "for name in ('tree_sitter', 'asyncpg', 'onnxruntime', 'pypdfium2'):\n"
        "    sys.modules[name] = None\n"
        "from control_plane import load_exports\n"
        "from dcf.worker import process\n"
        "load_exports(*process.LOADED_FIRST)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
