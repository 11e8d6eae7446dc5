"""What each kind of node does to flows: one module per kind, and what some of them are made of.

source, transform, route, merge, aggregate, combine, state, output     the kinds
checking            what may leave a transform
joins               the records of a combine's inputs brought together
partials            what aggregates are made of
folding             what state nodes fold by window functions
stepping            what they fold one record after the other
analytic_windows    window functions of transforms
time_windows        the windows of aggregates over event time
interleave          the drawing of a seeded merge

`flow.flows` has the table of kinds.
"""
