"""Kernels over arms: the graph Matérn kernel and its product with a kernel on contexts."""
