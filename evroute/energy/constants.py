"""Constants of eq. 8 and of its units."""

GRAVITY_MPS2 = 9.82
AIR_DENSITY_KGPM3 = 1.2
J_PER_WH = 3600.0
