"""Fitting: hyper-parameters chosen by the likelihood of the driven trips."""
