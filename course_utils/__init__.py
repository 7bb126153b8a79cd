"""The small package behind the course "Attention, from Kernels to GPT"."""

__version__ = "2.0.0"
