"""Physics: vehicles, the energy of edges (eq. 8) and turns, and the prior of learning."""
