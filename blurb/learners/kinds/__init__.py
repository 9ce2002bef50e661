"""One declaration a kind of learner: `LEARNER` of each module. A new kind is one more file, here or in a plug-in."""
