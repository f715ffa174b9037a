"""Edges: the day, the blocks and the errors of the belief that learns single edges."""
