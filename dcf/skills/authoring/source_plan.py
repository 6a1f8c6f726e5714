"""Files that are to join a source folder: planned whole, then written; nothing overwritten."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from dcf.problem import Problem
from dcf.skills.authoring.skeleton import header, index_text, registry_entry, registry_text
from dcf.skills.authoring.source_tree import SourceTree, read_tree
from dcf.skills.authoring.tool_index import ToolIndex, index_tools
from dcf.skills.authoring.yaml_insert import insert_entry, insert_item


class SourcePlan:
    """Collects what is to be written below ``root``; ``schemas`` is the folder of the generated
    ones. ``problems`` is what stands in the way: with any, nothing should be written."""

    def __init__(self, root: Path, schemas: Path) -> None:
        self.root = root
        self.tree: SourceTree = read_tree(root)
        self.tools: ToolIndex = index_tools(self.tree.tools)
        self.problems: list[Problem] = []
        self.written: list[str] = []
        self.extended: list[str] = []
        self._schemas = schemas
        self._new: dict[str, bytes] = {}
        self._changed: dict[str, str] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """All that would be written or extended, by path below the root."""
        return (*self._new, *self._changed)

    def create(self, name: str, text: str, schema: str) -> None:
        """A new source, with the line that tells editors its schema."""
        self.add(name, (header(self.root / name, self._schemas, schema) + text).encode())

    def add(self, name: str, data: bytes) -> None:
        """A new file as it is."""
        path = self.root / name
        if path.exists() or path.is_symlink():
            hint = "nothing is overwritten: add to this file by hand"
            self.object("SKILL_NEW_EXISTS", "this file exists", hint, path)
        self._new[name] = data

    def index(self, files: Sequence[str]) -> None:
        """``files`` (below ``tools/``) in the index of the tools files."""
        name = "tools/_index.yaml"
        path = self.root / name
        if not path.exists():
            if (self.root / "tools.yaml").exists():
                if files:
                    hint = "move it to tools/ and list it in tools/_index.yaml, or add the tool"
                    message = "the tools stand in this one file"
                    self.object("SKILL_NEW_TOOLS", message, hint, self.root / "tools.yaml")
                return
            self.create(name, index_text(files), "tools_index")
            return
        self._extend(name, {file: partial(insert_item, key="files", item=file) for file in files})

    def registry(self, servers: Sequence[str]) -> None:
        """An entry, on the stub, for those of ``servers`` that the registry does not have."""
        name = "registry.yaml"
        if (self.root / name).exists():
            place = self.tree.registry.member("servers") if self.tree.registry else None
            known = {server_id for server_id, _ in place.members()} if place else set()
            missing = [server_id for server_id in servers if server_id not in known]
            self._extend(name, {one: partial(_with_server, server_id=one) for one in missing})
            return
        text = registry_text()
        for server_id in servers:
            text = _with_server(text, server_id) or text
        self.create(name, text, "registry")

    def object(self, code: str, message: str, hint: str, file: Path) -> None:
        """Note a problem."""
        self.problems.append(Problem(code, message, hint=hint, file=str(file)))

    def carry_out(self) -> None:
        """Write the new files first, so that a list never names a file that is not there."""
        try:
            for name, data in self._new.items():
                path = self.root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as stream:
                    stream.write(data)
                self.written.append(name)
            for name, text in self._changed.items():
                (self.root / name).write_bytes(text.encode())
                self.extended.append(name)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            file = Path(error.filename or self.root)
            self.object("SKILL_WRITE_FAILED", f"cannot be written: {reason}", "", file)

    def _extend(self, name: str, additions: Mapping[str, Callable[[str], str | None]]) -> None:
        if not additions:
            return
        path = self.root / name
        text = self.tree.open(path).text
        for what, add in additions.items():
            longer = add(text)
            if longer is None:
                hint = f"add {what} by hand"
                self.object("SKILL_NEW_EDIT", "nothing can be added to this file", hint, path)
                return
            text = longer
        self._changed[name] = text


def _with_server(text: str, server_id: str) -> str | None:
    return insert_entry(text, "servers", server_id, registry_entry(server_id))
