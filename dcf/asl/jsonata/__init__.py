"""JSONata: expressions compiled once, evaluated within limits, answering plain JSON."""
