"""Functions that the commands of the extension lab and `import blurb` call."""
