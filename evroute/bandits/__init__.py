"""Kernel bandits without roads."""
