"""What the service counts, as text for Prometheus (exposition format 0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._within: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def count(self, route: str, status: int, seconds: float) -> None:
        """One request."""
        self._requests[route, status] += 1
        within = self._within.setdefault(route, [0] * (len(_BOUNDS_S) + 1))
        within[bisect_left(_BOUNDS_S, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def to_prometheus(self) -> str:
        """``dcf_retrieval_requests_total`` and the histogram ``dcf_retrieval_seconds``."""
        return "".join(f"{line}\n" for line in (*self._counts(), *self._times()))

    def _counts(self) -> Iterator[str]:
        yield "# HELP dcf_retrieval_requests_total Requests by route and status."
        yield "# TYPE dcf_retrieval_requests_total counter"
        for (route, status), count in sorted(self._requests.items()):
            labels = f'route="{route}",status="{status}"'
            yield f"dcf_retrieval_requests_total{{{labels}}} {count}"

    def _times(self) -> Iterator[str]:
        yield "# HELP dcf_retrieval_seconds How long requests took."
        yield "# TYPE dcf_retrieval_seconds histogram"
        for route, within in sorted(self._within.items()):
            total = 0
            for bound, count in zip((*map(str, _BOUNDS_S), "+Inf"), within, strict=True):
                total += count
                yield f'dcf_retrieval_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'dcf_retrieval_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'dcf_retrieval_seconds_count{{route="{route}"}} {total}'
