"""Ahead of time: targets named by text, signatures written down, and the modules made from them."""
