"""Batches and matrices in blocks, on processes of this machine or by any executor."""
