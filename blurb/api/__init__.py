"""The front door: the bodies of what `import blurb` offers; extensions add to it (group `blurb.names`)."""
