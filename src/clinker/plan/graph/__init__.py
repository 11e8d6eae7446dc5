"""The graph: compositions expanded, channels laid over, references followed.

graph               units, edges and calls; which units come before and after others
composition_files   the files of compositions, each read once
compositions        calls, and the bodies that stand in their place
parameters          where the value of a composition's parameter comes from
channels            what a client or an environment changes
places              the pipeline and the bodies, each reached from the one around it
references          what is wrong with names and references where they stand
optional_ports      what a composition does without when nothing is connected to a port
wiring              from nodes to units: references followed, circles reported
"""
