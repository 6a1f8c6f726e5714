"""``dcf session``: a conductor, its companions, and the tasks between them."""
