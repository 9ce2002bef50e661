"""Pretraining of small encoders on unlabelled text, on transformers' Trainer."""
