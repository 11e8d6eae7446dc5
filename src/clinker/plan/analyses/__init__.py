"""What the engine and `--explain` need to know of a graph, one question per module.

Each walks the planned nodes in their order and matches on the shape of a node; what only its kind
knows, it asks the node.

  ports           may bodies of compositions name the columns they name, and keep their promises?
  variable_flow   is every scoped variable written before it is read?
  folds           which values of state nodes can be folded by window functions?
  correlation     which records stand or fall together?
  ordering        what are records sorted by, and how do aggregates make use of it?
  windows         which records does each window cover?
  watermarks      where do event times come from, and do time windows close?
  joins           what does the condition of a combine mean for each input?
  required        which columns of a source does anything need?
  documents       what of the envelopes around records does anything need?
  projection      which columns does an output write?
  reach           how many source records reached an output?
  growth          may records become much larger, or many more?
"""
