"""From models to a typed plan: what is read, what every node computes, where it goes.

A pipeline file becomes a plan in one pass through these packages, or a list of findings. Nothing
here imports pyspark or looks into data.

  graph/      compositions expanded, channels laid over, references followed: which node reads which
  nodes/      each kind of node: its CXL bound to the records that reach it, and what it answers
  analyses/   what the engine and `--explain` need to know of the graph, one question per module
  files/      what is read, written, rejected to, spilled to
  explain/    the plan as text, JSON, DOT and SQL
  variables   what CXL may read as `$vars`, `$pipeline`, `$source`, `$record`
  options     what a caller decides besides the file
  compile     the one entry
"""
