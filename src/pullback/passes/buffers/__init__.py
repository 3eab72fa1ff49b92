"""What shares memory with what, and which writes may happen in place."""
