"""The version of this package, and of the npm package that it goes with."""

__version__ = "0.1.0"
