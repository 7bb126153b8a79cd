"""The small package behind the course "Attention, from Kernels to GPT"."""

__version__ = "3.0.0.dev0"
