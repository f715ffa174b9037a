"""Bandits without roads: the experiments of the papers behind the Nyström engines and the confidence bounds."""
