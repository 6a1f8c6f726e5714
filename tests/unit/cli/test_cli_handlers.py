"""``--handlers module:attribute``: a dict of async functions, or all that is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcf.worker import InvalidHandlers, import_handlers


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "shop_handlers.py").write_text(
        "async def double(x): return 2 * x\n"
        "def plain(x): return x\n"
        "GOOD = {'double': double}\n"
        "BAD = {'plain': plain, 'double': double, 'none': None}\n"
        "LIST = [double]\n"
    )
    (tmp_path / "broken_handlers.py").write_text("raise RuntimeError('no licence')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "shop_handlers"


def test_a_dict_of_async_functions_is_taken(module: str) -> None:
    assert set(import_handlers(f"{module}:GOOD")) == {"double"}


def test_every_handler_that_is_none_is_named(module: str) -> None:
    with pytest.raises(InvalidHandlers) as refused:
        import_handlers(f"{module}:BAD")

    messages = [problem.message for problem in refused.value.problems]
    assert len(messages) == 2
    assert "'plain'" in messages[0]
    assert "'none'" in messages[1]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("shop_handlers", "module:attribute"),
        ("shop_handlers:", "module:attribute"),
        ("no_such_module:X", "cannot be imported"),
        ("broken_handlers:X", "RuntimeError: no licence"),
        ("shop_handlers:NOPE", "no attribute 'NOPE'"),
        ("shop_handlers:LIST", "no dict 'LIST'"),
    ],
)
def test_what_cannot_be_used_says_why(module: str, name: str, says: str) -> None:
    with pytest.raises(InvalidHandlers) as refused:
        import_handlers(name)

    [problem] = refused.value.problems
    assert says in problem.message
    assert problem.hint
