"""Functions that the commands of the extension reports and `import blurb` call."""
