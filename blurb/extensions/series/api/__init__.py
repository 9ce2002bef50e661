"""Functions that the commands of the extension series and `import blurb` call."""
