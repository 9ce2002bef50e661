"""Pretraining of small encoders on transformers' Trainer, on unlabelled text without that of dev and test."""
