"""From a call to the compiled functions that serve it: the cache, its keys, its guards.

binding     the user's arguments as one value a parameter, with Python's own errors
keys        what the compiler specialises on in a value
outside     data and objects that are found outside the function, at each call
variants    one compiled signature
collector   compiling without the cyclic garbage collector
promotion   when a signature is compiled to C, and what serves until then
background  the thread that compiles meanwhile
floating    whether NumPy's settings let compiled code serve
dispatcher  the compiled signatures of a function
entry       the specialised function that serves the signature called last
"""
