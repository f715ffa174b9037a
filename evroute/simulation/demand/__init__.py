"""Trips: what is asked of a world round by round, from tables, route files or chance, and when each trip tells."""
