"""Pictures with matplotlib, in one style."""
