"""Which places a stack trace names."""

from __future__ import annotations

import pytest

from dcf.code.traces import Named, meant_paths, named_places

PYTHON = """Traceback (most recent call last):
  File "/srv/app/shop/desk.py", line 5, in checkout
    charge_payment(basket)
  File "/srv/app/shop/pay.py", line 12, in charge_payment
    raise CardRefused
"""
NODE = """TypeError: this.parser.on is not a function
    at JsonDataLoader.load (/srv/app/src/loader.ts:12:17)
    at async main (file:///srv/app/src/main.ts:3:1)"""
GO = "panic: boom\nmain.load(0x1)\n\t/srv/app/load.go:31 +0x1d\n"
JAVA = "java.lang.Error\n\tat a.b.Basket.add(Basket.java:44)\n"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (PYTHON, [("/srv/app/shop/pay.py", 12), ("/srv/app/shop/desk.py", 5)]),
        (NODE, [("/srv/app/src/loader.ts", 12), ("/srv/app/src/main.ts", 3)]),
        (GO, [("/srv/app/load.go", 31)]),
        (JAVA, [("Basket.java", 44)]),
        ("src\\a.ts:7: error", [("src/a.ts", 7)]),
        ("./a.py:7 and a.py:7", [("a.py", 7)]),
        ("web/cart.ts(12,5): error TS2339: no 'total'", [("web/cart.ts", 12)]),
        ("[ERROR] /srv/app/Legacy.java:[5,12] cannot find symbol", [("/srv/app/Legacy.java", 5)]),
        ("at Cart (webpack-internal:///./ui.tsx:7:20)", [("ui.tsx", 7)]),
        ("at webpack-internal:///(app-pages-browser)/./src/ui.tsx:7:20", [("src/ui.tsx", 7)]),
        ("webpack://shop/./src/ui.tsx:7:20", [("src/ui.tsx", 7)]),
        ("call a.b(12), f.x(3) and list:[5]", [("a.b", 12), ("f.x", 3)]),
        ("http://localhost:3030/log at 12:30:15, version 1.2:3", []),
    ],
)
def test_places_come_in_the_order_of_the_fault(text: str, places: list[tuple[str, int]]) -> None:
    assert named_places(text) == tuple(Named(*place) for place in places)


def test_a_path_is_meant_by_its_end() -> None:
    paths = ["shop/pay.py", "pay.py", "other/pay.py", "shop/repay.py"]
    assert list(meant_paths(paths, [Named("/srv/app/shop/pay.py", 1)])) == ["shop/pay.py", "pay.py"]
    assert list(meant_paths(paths, [Named("other/pay.py", 1)])) == ["pay.py", "other/pay.py"]


def test_long_texts_without_places_take_no_time() -> None:
    assert named_places("a.b" * 100_000) == named_places("a" * 300_000 + ":") == ()
