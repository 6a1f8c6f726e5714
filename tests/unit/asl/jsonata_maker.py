"""JSONata expressions and data, made at random: whatever grammar allows, mostly with a result."""

from __future__ import annotations

import json
from random import Random
from typing import Any

_NAMES = ("id", "name", "price", "tags", "items", "deep", "none", "missing", "flag", "a b")
_FIELDS = ("items", "name", "one", "deep", "tags", "texts", "numbers", "missing", "empty", "none")
_TEXTS = (
    "",
    "a",
    "b c",
    "ä",
    "😀x😀",
    "a,b",
    "-1.5",
    "2024-02-29T12:30:00.000Z",
    "MCMXC",
    "<\"'\\>",
)
_NUMBERS = (
    "0",
    "1",
    "2",
    "-1",
    "0.1",
    "1.5",
    "1e21",
    "1e-7",
    "100",
    "123456789.125",
    "0.30000000004",
)
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "in")
_ARITHMETIC = ("+", "-", "*", "/", "%")
_OF_TEXT = "length lowercase trim uppercase base64encode encodeUrlComponent number"
_OF_NUMBER = "abs ceil floor sqrt round string number"
_OF_ANY = "boolean count exists not reverse string type keys spread distinct number length"
_CALLS: tuple[tuple[str, str], ...] = (
    *((name, "s") for name in _OF_TEXT.split()),
    *((name, "n") for name in _OF_NUMBER.split()),
    *((name, "v") for name in _OF_ANY.split()),
    *((name, "a") for name in ("sum", "max", "min", "average", "sort", "count")),
    *(("append", "vv"), ("contains", "ss"), ("join", "vs"), ("lookup", "vs"), ("merge", "v")),
    *(("power", "nn"), ("round", "nn"), ("split", "ss"), ("substring", "snn"), ("pad", "sks")),
    *(("substringBefore", "ss"), ("substringAfter", "ss"), ("zip", "vv"), ("replace", "sss")),
    *(("formatBase", "nk"), ("substring", "sn"), ("split", "ssk")),
)
_LAMBDAS = ("map", "filter", "single", "sift", "each")


class Maker:
    """Makes expressions over ``data()``, which stand at ``$states.input``."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def data(self) -> Any:
        rng = self._rng
        items = [
            {
                "id": number,
                "name": rng.choice(_TEXTS),
                "price": rng.choice((0, 1, 2.5, -3, 1e10, 7)),
                "tags": rng.sample(["x", "y", "z"], rng.randrange(4)),
                **({"deep": {"id": [number, [1]], "a b": "q"}} if rng.random() < 0.5 else {}),
                **({"none": None} if rng.random() < 0.3 else {}),
            }
            for number in range(rng.randrange(5))
        ]
        return {
            **{"items": items, "name": rng.choice(_TEXTS), "one": {"id": 1, "price": 2}},
            **{"deep": {"items": {"id": [[1, 2], [3]], "flag": True}}, "empty": [], "none": None},
            **{"tags": ["p", "q", "p"], "texts": rng.sample(_TEXTS, 4), "numbers": [3, 1, 2.5]},
        }

    def expression(self, depth: int = 3, inside: bool = False) -> str:
        """``inside`` an item is the context."""
        rng = self._rng
        if depth == 0:
            return self._leaf(inside)
        form = rng.choice(self._forms)
        return str(form(self, depth - 1, inside))

    def _leaf(self, inside: bool) -> str:
        rng = self._rng
        kind = rng.random()
        if kind < 0.2:
            return self.number()
        if kind < 0.4:
            return self.text()
        if kind < 0.45:
            return rng.choice(("true", "false", "null", "[]", "{}", "$v", "$nothing"))
        return self._field(inside)

    def _field(self, inside: bool) -> str:
        rng = self._rng
        if inside and rng.random() < 0.85:
            return rng.choice(("$", "$.id", *(self.name() for _ in range(6))))
        return "$states.input." + rng.choice(_FIELDS)

    def number(self) -> str:
        return self._rng.choice(_NUMBERS)

    def text(self) -> str:
        return json.dumps(self._rng.choice(_TEXTS), ensure_ascii=False)

    def name(self) -> str:
        name = self._rng.choice(_NAMES)
        return f"`{name}`" if " " in name else name

    def path(self, depth: int, inside: bool) -> str:
        is_data = self._rng.random() < 0.8
        path = self._field(inside) if is_data else f"({self.expression(depth, inside)})"
        for _ in range(self._rng.randint(1, 3)):
            path += self._step(depth)
        return path

    def _step(self, depth: int) -> str:
        rng = self._rng
        kind = rng.random()
        if kind < 0.4:
            return f".{self.name()}"
        if kind < 0.5:
            return f"[{rng.choice(('0', '-1', '1', '9', '0.5', '[0,1]', ''))}]"
        if kind < 0.65:
            return f"[{self.expression(depth, True)}]"
        if kind < 0.75:
            return f".({self.expression(depth, True)})"
        if kind < 0.85:
            return f".{self._object(depth, True)}"
        if kind < 0.9:
            return f".[{self.expression(depth, True)}, {self.expression(depth, True)}]"
        if kind < 0.95:
            return f"^({rng.choice('<>')}{self.name()})"
        return rng.choice((".*", "{name: id}", "{name: $sum(price)}", ".%.name", "#$i[$i<2]"))

    def _object(self, depth: int, inside: bool) -> str:
        one, other = (self.expression(depth, inside) for _ in range(2))
        return f"{{'a': {one}, 'b': {other}}}"

    def _array(self, depth: int, inside: bool) -> str:
        return (
            f"[{', '.join(self.expression(depth, inside) for _ in range(self._rng.randrange(4)))}]"
        )

    def _operation(self, depth: int, inside: bool) -> str:
        kind = self._rng.random()
        if kind < 0.2:
            one, other = (self._numeric(inside) for _ in range(2))
            return f"{one} {self._rng.choice((*_ARITHMETIC, *_COMPARISONS))} {other}"
        left, right = self.expression(depth, inside), self.expression(depth, inside)
        if kind < 0.3:
            return f"{left} {self._rng.choice(_COMPARISONS)} {right}"
        if kind < 0.35:
            return f"({left}) {self._rng.choice(_ARITHMETIC)} ({right})"
        if kind < 0.75:
            return f"{left} & {right}"
        if kind < 0.85:
            return f"{left} {self._rng.choice(('and', 'or', '??', '?:'))} {right}"
        return f"({left} ? {right} : {self._leaf(inside)})"

    def _negation(self, depth: int, inside: bool) -> str:
        inner = self._numeric(inside) if self._rng.random() < 0.8 else self._leaf(inside)
        return self._rng.choice(("-{}", "-({})", "-{} ? 1 : 2", "- -{}", "-{}.a")).format(inner)

    def _numeric(self, inside: bool) -> str:
        fields = (
            ("id", "price") if inside else ("$states.input.one.price", "$states.input.items[0].id")
        )
        return self._rng.choice((self.number(), *fields))

    def _textual(self, inside: bool) -> str:
        field = "name" if inside else "$states.input.name"
        return self._rng.choice((self.text(), field))

    def _call(self, depth: int, inside: bool) -> str:
        name, kinds = self._rng.choice(_CALLS)
        return f"${name}({', '.join(self._argument(kind, depth, inside) for kind in kinds)})"

    def _argument(self, kind: str, depth: int, inside: bool) -> str:
        if kind == "v" or self._rng.random() < 0.1:
            return self.expression(depth, inside)
        if kind == "a":
            return self._rng.choice(
                ("$states.input.numbers", "$states.input.items.price", "[3, 1]")
            )
        if kind == "k":
            return self._rng.choice(("0", "2", "-3", "5", "16"))
        return self._textual(inside) if kind == "s" else self._numeric(inside)

    def _lambda(self, depth: int, inside: bool) -> str:
        body = self.expression(depth, True).replace("$.", "$v.")
        given = self.expression(depth, inside)
        return f"${self._rng.choice(_LAMBDAS)}({given}, function($v) {{ {body} }})"

    def _binding(self, depth: int, inside: bool) -> str:
        """What binds or looks back: parents, items and positions, transformations, recursion."""
        rng = self._rng
        value, other = self.expression(depth, True), self.expression(depth, True)
        return rng.choice(
            (
                f"$states.input.items^(<price, >{self.name()}).{{'a': id, 'b': price}}",
                f"$states.input.items^({rng.choice('<>')}price).id",
                "$sort($states.input.items, function($l, $r) { $l.price > $r.price }).id",
                f"$states.input.items.tags.{{'a': $, 'b': %.id, 'c': %.%.name, 'd': {value}}}",
                f"$states.input.items.deep.id[{value} = %.id].%",
                f"$states.input.items@$i.$states.input.tags@$t[{value}].{{'a': $i.id, 'b': $t}}",
                f"$states.input.items@$i#$n[$n > 0].{{'a': $i.id, 'b': $n, 'c': {value}}}",
                "$states.input.tags#$n.{'a': $, 'b': $n}",
                f"$states.input ~> |items|{{'id': {self.number()}, 'new': price}}, ['name']|",
                f"$states.input ~> |items[{value}]|{{'price': {self.number()}}}|",
                f"($f := function($n, $s) {{ $n < 1 ? $s : $f($n - 1, [$s, {value}]) }}; $f(4, 0))",
                f"($f := function($n) {{ $n < 2 ? 1 : $n * $f($n - 1) }}; [$f(5), {other}])",
                f"($c := $uppercase ~> $trim; $c({self._textual(inside)}))",
                f"($p := $substring(?, 0, {self.number()}); $p({self._textual(inside)}))",
                f"$reduce($states.input.numbers, function($a, $b) {{ [$a, $b, {value}] }})",
                f"[[$states.input.items.tags], [[{value}]], $states.input.empty, [tags[0]]]",
                "$states.input.items.tags[0]",
                "$states.input.(items.tags)[0]",
                "$states.input.items[].id[]",
                f"$states.input.**[{value}].id",
            )
        )

    def _block(self, depth: int, inside: bool) -> str:
        first, second = self.expression(depth, inside), self.expression(depth, inside)
        return f"($v := {first}; $w := {second}; [$v, {self.expression(depth, inside)}, $w])"

    _forms = (path, path, path, _object, _array, _operation, _operation, _negation, _call, _call)
    _forms += (_lambda, _block, _binding, _binding)
