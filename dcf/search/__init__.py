"""Search over short texts: words and meanings, fused. Knows nothing of what it searches."""
