"""The native target: typed parts of a program as C, compiled, loaded and called."""
