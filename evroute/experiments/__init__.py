"""Experiments: the loop of Algorithm 1, regret, run folders."""
