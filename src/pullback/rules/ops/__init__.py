"""The NumPy and `math` functions as operations of the IR: styles of their results and what these share
(B1).
"""
