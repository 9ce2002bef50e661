"""The figures of a GPU: a bundle is packed here, measured on a machine with a card, and merged into the pages.

python -m benchmarks.device --help
"""
