"""Confidence bounds for kernel regression that hold for all arms and all rounds together."""
