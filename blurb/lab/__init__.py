"""Former place of `blurb.extensions.lab`; what guides named still works."""
