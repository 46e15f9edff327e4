"""The version of the package, alone in a file so that reading it imports nothing else."""

__version__ = "0.1.0"
