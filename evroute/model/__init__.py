"""Models of edge energy: prior, posterior, noise."""
