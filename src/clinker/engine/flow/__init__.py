"""Flows: the records between nodes, described by SQL until they must be computed.

frame       tables of the engine as chains of steps; nothing is sent while they grow
flow        a flow: a frame, and what is computed of its columns
hidden      the columns that the engine carries, each kind declared once
layers      columns that several expressions share, added to a frame
building    what nodes share while they describe their flows
flows       the table of node kinds: every node described once, for all that read it
identity    which values count as one, and which of two comes first
ordering    sorting by the values of fields
"""
