"""JSONata fields: what they read, what they give, and the error when they give nothing."""

from __future__ import annotations

import copy
import threading
from typing import Any

import pytest
from jsonata_scope import CONTEXT, jsonata, jsonata_cause

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.jsonata.expression import compile_jsonata, compile_jsonata_template, expect, is_jsonata
from dcf.asl.jsonata.functions import FUNCTION_NAMES
from dcf.asl.reading.findings import Findings
from dcf.asl.scope import Scope

ORDER = {
    "id": "A1",
    "items": [{"name": "pen", "price": 2, "tags": ["x"]}, {"name": "ink", "price": 5.5}],
    "note": None,
    "none": [],
    "one": [7],
    "holes": [None, 1, None],
}


@pytest.mark.parametrize("text", ["{% 1 %}", "{%1%}", "{%\n$x\n%}"])
def test_a_text_between_the_marks_is_an_expression(text: str) -> None:
    assert is_jsonata(text)


@pytest.mark.parametrize(
    "value", [" {% 1 %}", "{% 1 %} ", "a {% 1 %} b", "1", 1, None, ["{% 1 %}"]]
)
def test_anything_else_is_not(value: object) -> None:
    assert not is_jsonata(value)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$states.input", ORDER),
        ("$states.input.id", "A1"),
        ("$states.context.State.Name", "S"),
        ("$states.input.items.name", ["pen", "ink"]),
        ("$states.input.items.tags", ["x"]),
        ("$states.input.items[price > 3].name", "ink"),
        ("$states.input.items[-1].name", "ink"),
        ("$sum($states.input.items.price)", 7.5),
        ("$states.input.one", [7]),
        ("$states.input.none", []),
        ("$states.input.items^(>price).name", ["ink", "pen"]),
        ("$states.input.items{name: price}", {"pen": 2, "ink": 5.5}),
        ("[1..3]", [1, 2, 3]),
        ("{'a': 1}.*", 1),
        ("{'a': [1]}.*", [1]),
        ("[{'a': 1}, {'a': 2}].*", [1, 2]),
        ("$count($states.input.**)", 14),
        (
            "$states.input.items#$i.{'i': $i, 'n': name}",
            [{"i": 0, "n": "pen"}, {"i": 1, "n": "ink"}],
        ),
        ("$states.input.items.tags.%.name", "pen"),
        ("{'total': 1 + 1}", {"total": 2}),
        ("'a' & 1 & true & null", "a1truenull"),
        ("7 / 2", 3.5),
        ("6 / 2", 3),
        ("5.5 % 2", 1.5),
    ],
)
def test_an_expression_gives_plain_json(text: str, result: Any) -> None:
    value = jsonata(text, ORDER)

    assert value == result
    assert type(value) is type(result)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$states.input.note", None),
        ("$type($states.input.note)", "null"),
        ("$exists($states.input.note)", True),
        ("$states.input.holes", [None, 1, None]),
        ("$states.input.holes[0]", None),
        ("$filter($states.input.holes, function($hole) { $hole = null })", [None, None]),
        ("$nothing", None),
        ("{'note': $states.input.note}", {"note": None}),
        ("{'a': null} = {'a': $nothing}", True),
        ("[null]", [None]),
    ],
)
def test_null_is_a_value(text: str, result: Any) -> None:
    assert jsonata(text, ORDER, nothing=None) == result


def test_variables_are_read_by_name() -> None:
    assert jsonata("$count.of + $more[1]", count={"of": 2}, more=[1, 40]) == 42


@pytest.mark.parametrize("text", ["$states.input.missing", "$unknown", "$states.input.none[0]"])
def test_an_undefined_result_is_an_error(text: str) -> None:
    assert jsonata_cause(text, ORDER) == "returned nothing (undefined)."


@pytest.mark.parametrize(
    "text",
    [
        *("function($x) { $x }", "$sum", "{'f': function($x) { $x }}", "[1, [$sum]]", "$string(?)"),
        *(
            "($f := function() { 1 }; {'f': $f})",
            "$map([1], function() { $sum })",
            "$sum ~> $count",
        ),
        "$append([1], $sum)",
    ],
)
def test_a_function_is_no_result(text: str) -> None:
    assert jsonata_cause(text) == "returned an unsupported result type."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("'x' + 1", 'T2001: The left side of the "+" operator must evaluate to a number'),
        ("$error('no stock')", "D3137: no stock"),
        ("$replace('abc', /x*/, '-')", "D1004: Regular expression matches zero length string"),
        (
            "($f := $length; $f(5))",
            'T0410: Argument 1 of function "f" does not match function signature',
        ),
        (
            "(5).$length()",
            'T0411: Context value is not a compatible type with argument 1 of function "length"',
        ),
        ("$unknown()", "T1006: Attempted to invoke a non-function"),
        ("$length(5)", 'T0410: Argument 1 of function "length" does not match function signature'),
    ],
)
def test_an_error_of_the_expression_is_told_with_its_code(text: str, why: str) -> None:
    assert jsonata_cause(text) == f"threw an error during evaluation. {why}"


@pytest.mark.parametrize("text", ["1/0", "-1/0", "1e308 * 10", "1/(10e300 * 10e100)"])
def test_a_number_without_end_is_an_error(text: str) -> None:
    assert "D1001: Number out of range" in jsonata_cause(text)


def test_an_integer_of_64_bits_comes_out_as_it_went_in() -> None:
    exact = {"a": 2**53, "b": 2**53 + 1, "c": -(2**53) - 1, "d": 2**63 - 1, "e": -(2**63)}

    assert jsonata("{'n': $states.input, 'b': $states.input.b}", exact) == {
        "n": exact,
        "b": 2**53 + 1,
    }
    assert jsonata("$states.input.[a = b, a < b, b > a]", exact) == [False, True, True]


def test_whole_numbers_are_integers_below_64_bits() -> None:
    assert repr(jsonata("$states.input", 1.0)) == "1"
    assert repr(jsonata("$states.input.n", {"n": 2**63})) == "9.223372036854776e+18"


@pytest.mark.parametrize(
    "text",
    [
        "$states.input ~> |items|{'price': 0}, ['name']|",
        "$append($states.input.items, 1)",
        "$sort($states.input.items, function($a, $b) { $a.price < $b.price })",
        "$reverse($states.input.items)",
        "$states.input.none{'a': 1}",
        "$states.input.items#$place.($place)",
        "$merge([$states.input, {'id': 'B2'}])",
    ],
)
def test_an_expression_never_changes_its_input(text: str) -> None:
    given = copy.deepcopy(ORDER)

    jsonata(text, given)

    assert given == ORDER


def test_now_is_when_the_state_was_entered() -> None:
    assert jsonata("$now()") == "2024-05-01T10:00:00.250Z"
    assert jsonata("$millis()") == 1714557600250


@pytest.mark.parametrize(
    "text", ["", "1 +", "(1", "$states.input.", "'open", "{'a' 1}", "function(x) { x }", "/(/"]
)
def test_a_text_that_is_no_jsonata_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_jsonata(f"{{% {text} %}}", "Output")

    assert caught.value.code == "ASL_BAD_JSONATA"


def test_a_syntax_error_tells_its_position() -> None:
    with pytest.raises(ExpressionError, match="at position 5: S0203"):
        compile_jsonata("{% [1, 2 %}", "Output")


def test_a_template_evaluates_its_expressions_and_keeps_the_rest() -> None:
    template = {"a": ["{% $states.input.id %}", "plain", 1], "b": {"c.$": "$.x"}}
    findings = Findings()

    build = compile_jsonata_template(template, "/Output", findings, "Output")

    assert build(Scope(ORDER, CONTEXT, {})) == {"a": ["A1", "plain", 1], "b": {"c.$": "$.x"}}
    assert findings.problems == []


def test_a_template_names_the_place_of_a_failure() -> None:
    template = {"a": {"b": [1, "{% $states.input.missing %}"]}}
    build = compile_jsonata_template(template, "/Output", Findings(), "Output")

    with pytest.raises(EvaluationError, match=r"specified for the field 'Output/a/b\[1\]'"):
        build(Scope(ORDER, CONTEXT, {}))


def test_a_template_reports_every_mistake_at_its_place() -> None:
    findings = Findings()

    compile_jsonata_template({"a": "{% ( %}", "b": ["{% ) %}"]}, "/Output", findings, "Output")

    assert [problem.path for problem in findings.problems] == ["/Output/a", "/Output/b/0"]


def test_a_field_of_another_type_is_refused_with_the_value() -> None:
    text = "{% {'foo': 'bar'} %}"
    read = expect(compile_jsonata(text, "Items"), text, "Items", "array")

    with pytest.raises(EvaluationError) as caught:
        read(Scope(None, {}, {}))

    assert caught.value.cause == (
        "The JSONata expression '{'foo': 'bar'}' specified for the field 'Items' returned an"
        " unexpected result type. Expected 'array', but was 'object' for value: {\"foo\":\"bar\"}"
    )


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("integer", 3.0, True),
        ("integer", 3.5, False),
        ("number", True, False),
        ("string", "x", True),
        ("boolean", False, True),
        ("timestamp", "2024-05-01T00:00:00Z", True),
        ("timestamp", "tomorrow", False),
    ],
)
def test_expected_kinds(kind: str, value: Any, fits: bool) -> None:
    read = expect(lambda _: value, "{% $x %}", "Seconds", kind)
    if fits:
        assert read(Scope(None, {}, {})) == value
    else:
        with pytest.raises(EvaluationError, match=f"Expected '{kind}'"):
            read(Scope(None, {}, {}))


def test_one_expression_serves_many_threads() -> None:
    text = "{% $map([1..50], function($n) { $n * $factor + $states.input }) ~> $sum() %}"
    expression = compile_jsonata(text, "Output")
    wrong: list[Any] = []

    def work(factor: int) -> None:
        for _ in range(5):
            value = expression(Scope(factor, {}, {"factor": factor}))
            if value != 1275 * factor + 50 * factor:
                wrong.append((factor, value))

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


@pytest.mark.parametrize("name", sorted(FUNCTION_NAMES))
def test_a_variable_may_have_the_name_of_any_function(name: str) -> None:
    """JSONata binds functions and variables in one place: a variable of the name hides it, and
    what stands around an expression here must not be hidden with it."""
    variables = {name: "card"}

    assert jsonata(f"${name} & '-1'", None, **variables) == "card-1"
    assert jsonata(f"{{'t': ${name}}}", None, **variables) == {"t": "card"}
    assert jsonata(f"${name} := 'z'", None, **variables) == "z"
    assert jsonata(f"(${name} := 'z'; ${name} & 'y')") == "zy"
    if name != "map":
        each = f"['a', 'b'] ~> $map(function($x) {{ ${name} & $x }})"
        assert jsonata(each, None, **variables) == ["carda", "cardb"]


@pytest.mark.parametrize("name", ["dcf_v", "dcf_engine", "dcf_barred", "dcf_distinct"])
def test_a_variable_may_be_called_as_what_stands_around_an_expression(name: str) -> None:
    variables = {name: "c"}

    assert jsonata(f"${name} & $string($distinct([1, 1]))", None, **variables) == "c[1]"
    assert jsonata(f"{{'a': ${name} ~> $uppercase}}", None, **variables) == {"a": "C"}
