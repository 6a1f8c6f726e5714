"""The JSONata library of our own: nobody else in the process notices what is changed in it."""

from __future__ import annotations

import subprocess
import sys

ASK = """
import sys
def answers():
    import jsonata
    said = []
    for text in (
        '$toMillis("1999-01-02", "[Y0001]-[M01]-[D01]")',
        '$fromMillis(0, "[H01]:[m01]")',
        '$count(null)',
        '$match("aXb", /x/i).match',
        '($f := $sum; $f([1, 2]))',
        '$map([1..3], function($n) { $n * 2 })',
        '[1, 2, 3][-1]',
    ):
        try:
            said.append(repr(jsonata.Jsonata(text).evaluate({})))
        except Exception as error:
            said.append(repr(error))
    names = sorted(name for name in vars(jsonata.Parser.Symbol) if not name.startswith("__"))
    return [*said, repr(names), repr(sys.getrecursionlimit())]
"""

DEPTH = """
import jsonata
text = '($f := function($n) { $n = 0 ? 0 : 1 + $f($n - 1) }; $f(300))'
print(jsonata.Jsonata(text).evaluate({}))
"""

OURS = """
from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.scope import Scope
read = compile_jsonata('{% $toMillis("1999-01-02", "[Y0001]-[M01]-[D01]") %}', "Output")
assert read(Scope({}, {}, {})) == 915235200000
"""


def in_a_fresh_process(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_library_answers_the_same_before_and_after_the_import() -> None:
    code = f"{ASK}\nbefore = answers()\nimport dcf.asl\n{OURS}\nprint(before == answers())"

    assert in_a_fresh_process(code) == "True\n"


def test_the_library_answers_the_same_when_it_is_imported_later() -> None:
    alone = in_a_fresh_process(f"{ASK}\nprint(answers())")

    assert in_a_fresh_process(f"{ASK}\nimport dcf.asl\n{OURS}\nprint(answers())") == alone


def test_the_library_recurses_as_deep_after_the_import() -> None:
    assert in_a_fresh_process(f"import jsonata, dcf.asl\n{DEPTH}") == "300\n"
