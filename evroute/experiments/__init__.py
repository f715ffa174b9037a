"""Experiments: the loop of Algorithm 1, regret, run folders.

Experiments, the play of their runs and the engines that share them out have modules of
their own here, and each uses the ones before it.
"""
