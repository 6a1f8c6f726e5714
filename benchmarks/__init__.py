"""What DCF costs, measured: transitions per second, latency per hop, memory.

``python -m benchmarks`` starts its own Redis and workers, prints a table and, with ``--json FILE``,
writes the figures. Machines differ and are noisy: each run also measures what the same Redis does
with the same scripts alone, and figures are best read as a share of that.
"""
