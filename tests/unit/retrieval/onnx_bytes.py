"""A small cross-encoder as an ONNX file, written without the package ``onnx``.

The numbers of fields are those of ``onnx.proto3`` (https://github.com/onnx/onnx), the encoding that
of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/).
"""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

_FLOAT, _INT64 = 1, 7


def cross_encoder(
    file: Path, words: dict[str, int], *, ids_name: str = "input_ids", sums: bool = True
) -> Path:
    """Write the model and the ``tokenizer.json`` beside it. For each pair it sums the numbers of
    the words, those of the second text twice; without ``sums`` it gives them one by one."""
    file.parent.mkdir(exist_ok=True)
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A:0 $B:1", special_tokens=[])
    if "[PAD]" in words:
        tokenizer.enable_padding(pad_id=words["[PAD]"], pad_token="[PAD]")
    tokenizer.save(str(file.with_name("tokenizer.json")))
    nodes = [
        _node("Mul", [ids_name, "attention_mask"], "there"),
        _node("Add", ["token_type_ids", "one"], "times"),
        _node("Mul", ["there", "times"], "each"),
        _node("ReduceSum", ["each", "one"], "sum"),
        _node("Cast", ["sum" if sums else "each"], "logits", _attribute("to", _FLOAT)),
    ]
    one = _field(1, 1) + _field(2, _INT64) + _field(7, 1) + _field(8, "one")
    inputs = [_value(name, _INT64) for name in (ids_name, "attention_mask", "token_type_ids")]
    graph = b"".join(
        (
            *(_field(1, node) for node in nodes),
            _field(2, "sums"),
            _field(5, one),
            *(_field(11, value) for value in inputs),
            _field(12, _value("logits", _FLOAT)),
        )
    )
    opset = _field(1, "") + _field(2, 13)
    file.write_bytes(_field(1, 8) + _field(7, graph) + _field(8, opset))
    return file


def _node(operator: str, inputs: list[str], output: str, attribute: bytes = b"") -> bytes:
    given = b"".join(_field(1, name) for name in inputs)
    return given + _field(2, output) + _field(4, operator) + attribute


def _attribute(name: str, value: int) -> bytes:
    integer = 2
    return _field(5, _field(1, name) + _field(3, value) + _field(20, integer))


def _value(name: str, element: int) -> bytes:
    """A matrix with any number of rows and columns."""
    shape = b"".join(_field(1, _field(2, size)) for size in ("pairs", "tokens"))
    tensor = _field(1, element) + _field(2, shape)
    return _field(1, name) + _field(2, _field(1, tensor))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    taken = bytearray()
    while value > 0x7F:
        taken.append(value & 0x7F | 0x80)
        value >>= 7
    taken.append(value)
    return bytes(taken)
