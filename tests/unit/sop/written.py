"""A procedure as somebody writes it, without mistakes."""

from __future__ import annotations

REFUND = """\
# Refund a customer

## Objective

The customer has the money back, or knows why not.

## Inputs

- `order_id` (text): The order's number
- `articles` (list of records): What came back
  - `sku` (text): The article

## Outputs

- `refund_id` (text): The refund's number

## Steps

1. Look the order up. The number is on the parcel.
   - Skill: orders.lookup_order
   - Reads: `order_id`
   - Writes: `total`, `order.state` as `status`
   - Retry up to 3 times, waiting 30 seconds, doubling
   - If this fails with OrderUnknown, go to step 6
2. Is it much?
   - If `total` is over 100, go to step 3
   - Otherwise go to step 4
3. Approval by finance
   - Within 2 hours
   - If rejected, go to step 6
4. For each `article` in `articles`, 2 at a time:
   1. Look at the article
      - Reads: `article.sku`
      - Writes: `usable`
   2. Wait 1 day
5. Pay the money back
   - Reads: `total` as `amount`
   - Writes: `refund_id`
   - Then finish
6. Stop with NotRefunded: no order `order_id`
"""

REFUND_YAML = """\
title: Refund a customer
objective: The customer has the money back, or knows why not.
inputs:
  - name: order_id
outputs:
  - {name: refund_id, type: string}
steps:
  - title: Look the order up
    reads: [order_id]
    writes: [total, order.state as status]
    retries: ["up to 3 times, waiting 30 seconds"]
    on_error:
      - errors: [OrderUnknown]
        then: go to step 4
  - title: Is it much?
    branches:
      - if: total is over 100
        then: go to step 4
  - title: Pay the money back
    writes: [refund_id]
    then: finish
  - number: 4
    title: Give up
    kind: end
    then: "stop with NotRefunded"
"""


def line_of(text: str, part: str) -> int:
    """The number of the line that has ``part``, which only one does."""
    [number] = [at for at, line in enumerate(text.split("\n"), start=1) if part in line]
    return number


def changed(text: str, *changes: tuple[str, str]) -> str:
    """``text`` with each first part, which is there once, replaced by the second."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text
