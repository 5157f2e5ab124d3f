"""A small language, two compilers of it to cs241 and the bugs that students put into such compilers.

The evaluation that seed 000 plans in its section 5: code of a reference compiler against code of faulty ones.
"""
