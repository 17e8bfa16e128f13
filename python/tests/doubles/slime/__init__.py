"""A double of slime; see ../README.md."""
