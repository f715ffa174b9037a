"""Arm spaces: the arms of a learner, and their relation to the edges of a network."""
