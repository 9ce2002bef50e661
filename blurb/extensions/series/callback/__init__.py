"""Callbacks for the tools that pretrain."""
