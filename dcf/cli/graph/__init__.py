"""``dcf graph``: what runs taught."""
