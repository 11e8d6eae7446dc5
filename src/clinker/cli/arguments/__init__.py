"""The arguments of the commands of `clinker`: what a command is called, takes and says of itself.

projects   init, infer, show, test
running    run, explain
files      check, fmt, lsp, schema
upkeep     metrics, recover, warmup
shared     what several commands take
values     texts of arguments as values
"""
