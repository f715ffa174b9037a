"""Believing: what is believed of every edge's energy before, and after what trips measured."""
