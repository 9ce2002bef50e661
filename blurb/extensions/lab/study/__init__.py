"""Studies of pretraining: variants, each pretrained several times and scored; a pretraining is the unit of a test."""
