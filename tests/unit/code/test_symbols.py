"""Definitions of each language, as its own specification writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.code import LANGUAGES, Symbol
from dcf.code.symbols import parsed, python_parsed

SOURCES = {
    "python": 'class A:\n    "About."\n    def run(self):\n        pass\n',
    "javascript": "/** About. */\nclass A {\n  run() { return 1 }\n}\n",
    "typescript": "/** About. */\nexport class A {\n  run(): number { return 1 }\n}\n",
    "tsx": "/** About. */\nexport class A {\n  run() { return <b>1</b> }\n}\n",
    "go": "// About.\ntype A struct{}\n\nfunc (a *A) run() {}\n",
    "rust": "/// About.\nstruct A;\n\nimpl A {\n    fn run(&self) {}\n}\n",
    "java": "/** About. */\npublic class A {\n  int run() { return 1; }\n}\n",
}


def names(text: str, language: str) -> list[tuple[str, str]]:
    return [(one.qualified_name, one.kind) for one in parsed(text, language).symbols]


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_a_type_and_its_method(language: str) -> None:
    about, run = parsed(SOURCES[language], language).symbols
    assert (about.name, about.docstring) == ("A", "About.")
    assert about.kind == ("struct" if language in ("go", "rust") else "class")
    assert (run.name, run.qualified_name, run.kind) == ("run", "A.run", "method")
    assert run.first_line == SOURCES[language].split("run")[0].count("\n") + 1


def test_c_has_functions_structs_types_and_macros() -> None:
    text = (
        "#ifndef X\n#define SQUARE(x) ((x) * (x))\n/* Adds. */\nstatic int *add(int a)\n{\n}\n"
        "typedef struct pair { int a; } pair;\nstruct pair one;\n"
        "int (*(*choose(int a))[3])(void) { return 0; }\n#endif\n"
    )
    assert names(text, "c") == [
        ("SQUARE", "macro"),
        ("add", "function"),
        ("pair", "type"),
        ("pair", "struct"),
        ("choose", "function"),
    ]
    assert parsed(text, "c").symbols[1] == Symbol("add", "function", "add", 3, 6, "Adds.")


def test_a_function_in_a_variable_is_a_function_and_another_value_is_not() -> None:
    text = "export const f = async (x) => {\n  x\n}, n = 3;\nvar {k} = () => 1;\n"
    assert parsed(text, "javascript").symbols == (Symbol("f", "function", "f", 1, 3, ""),)


def test_decorators_and_comments_right_above_belong_to_a_definition() -> None:
    text = 'import x\n\n# far\n\n# near\n@one\n@two(3)\ndef f():\n    """Does.\n\n    It."""\n'
    assert parsed(text, "python").symbols == (Symbol("f", "function", "f", 5, 11, "Does.\n\nIt."),)


def test_a_comment_behind_code_is_about_that_code() -> None:
    text = "int a; // the first\nint f(void) { return a; }\n"
    assert parsed(text, "c").symbols == (Symbol("f", "function", "f", 2, 2, ""),)


def test_functions_inside_of_functions_have_both_names() -> None:
    text = "def f():\n    def g():\n        pass\n"
    assert names(text, "python") == [("f", "function"), ("f.g", "function")]


def test_what_can_be_read_beside_an_error_is_there() -> None:
    assert ("after", "function") in names("def (:\n  x\n\ndef after():\n  return 2\n", "python")


def test_names_stay_short_however_deep_they_stand() -> None:
    text = "".join(f"{' ' * depth}class A{depth}:\n" for depth in range(90)) + " " * 90 + "pass\n"
    longest = max(parsed(text, "python").symbols, key=lambda one: len(one.qualified_name))
    assert longest.qualified_name.count(".") == 16


def test_a_language_that_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError):
        parsed("", "cobol")


@given(st.text(max_size=300), st.sampled_from(LANGUAGES))
def test_any_text_is_read_and_lines_are_inside_of_it(text: str, language: str) -> None:
    count = text.count("\n") + 1
    for one in parsed(text, language).symbols:
        assert 1 <= one.first_line <= one.last_line <= count


def test_without_a_grammar_python_is_read_by_its_own_parser() -> None:
    text = (
        "@cache\ndef a():\n    'Adds.'\n\nclass B:\n    async def c(self):\n        def d(): ...\n"
    )
    found = python_parsed(text)
    told = [(one.qualified_name, one.kind, one.first_line, one.last_line) for one in found.symbols]
    assert told == [
        ("a", "function", 1, 3),
        ("B", "class", 5, 7),
        ("B.c", "method", 6, 7),
        ("B.c.d", "function", 7, 7),
    ]
    assert found.symbols[0].docstring == "Adds." and found.error_line is None
    assert python_parsed("x = 1\ndef (:\n").error_line == 2
    assert python_parsed("x\0").symbols == () and python_parsed("(" * 100_000).symbols == ()
