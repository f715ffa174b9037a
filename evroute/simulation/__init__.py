"""Running: worlds that know the truth, the loop of Algorithm 1 in them, and experiments over many of them."""
