"""How much of what the product does is noticed by its tests: covered lines are changed, one at a
time, and the tests that run the line should fail.

  python -m benchmarks.mutants cover                 which test runs which line (20 minutes)
  python -m benchmarks.mutants pick --count 200      choose lines and changes, by a seed
  python -m benchmarks.mutants run --shard 1/2       try them; each of n processes takes a share
  python -m benchmarks.mutants report --json before.json

  python -m benchmarks.mutants cover --data build/after          after a change of tests
  python -m benchmarks.mutants recheck before.json --data build/after
  python -m benchmarks.mutants report --data build/after --json after.json
  python -m benchmarks.mutants report --compare before.json after.json

Each step can be killed at any point and goes on where it was. A change is made in a copy of the
tree, never in the tree itself. Acceptance tests are left out: their work is done by processes of
their own, whose lines nobody counts.
"""
