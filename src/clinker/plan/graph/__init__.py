"""The graph: compositions expanded, channels laid over, references followed.

graph          units, edges and calls; which units come before and after others
compositions   the files of calls, and the bodies that stand in their place
parameters     where the value of a composition's parameter comes from
channels       what a client or an environment changes
wiring         from nodes to units: names, references, ports and circles checked
"""
