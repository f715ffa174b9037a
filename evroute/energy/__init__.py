"""Physics: vehicles, the energy of an edge at constant speed (eq. 8), and the prior that learning starts from."""
