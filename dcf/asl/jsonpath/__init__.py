"""JSONPath: paths compiled into functions, with the semantics that AWS has."""
