"""Text to pretrain on: documents of files, of PubMed and of the train sets, without those of dev and test."""
