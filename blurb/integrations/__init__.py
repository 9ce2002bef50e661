"""Former place of `blurb.extensions.series.callback`; what guides named still works."""
