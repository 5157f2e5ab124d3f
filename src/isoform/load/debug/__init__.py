"""Debug information (DWARF 2 to 5): what a file says of its functions' types, locals and source lines.

It is optional and hostile: it is read within bounds, and where it is broken there is none. Only what is asked for is
read: one question needs a few hundred of the entries of a library that has millions.
"""
