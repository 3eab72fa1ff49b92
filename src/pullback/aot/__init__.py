"""Ahead of time: targets named by text, signatures written down, and the modules made from them.

targets      functions named by text
declared     signatures by text, by annotations, by example (grammar, tokens, scope, annotations, describe)
entries      what goes into a module: a function, the types of its arguments, the forms asked for
units        an entry compiled, with the private functions that serve it
baked        data from outside the functions, as constants
imports      objects from outside the functions, imported or refused
hints        specs as text for docstrings, and as type hints
checks       the statements that check arguments
wrappers     the public functions
trees        structures of operands as expressions
support      the helpers that a module may carry; each depends on NumPy alone
helpers      which helpers a module carries
lint         what a linter would say of the shape of the user's code
module       the text of a module, and the module as an object (header: what stands at its head)
outputs      the files of a module: what belongs into them, whether it is there
natives      gradients as C, and what C does not take (demands: the lengths that it takes for granted)
loader       the class by which a module uses its library; library: its text and table in the module
shared       the library, compiled
c_api        the C files (c_names, c_functions, c_header, c_source, c_example)
shown        what a notebook shows of a module
public       `pullback.compile`
"""
