"""Tests of pipelines: cases run on records of their own, and what came of it compared.

files       where test files are
given       what a case gives to sources, as files
attempt     a case run, in a session that all cases share
judging     what is otherwise than a case expects
updating    expectations rewritten in place
as_text     the outcome for people
as_junit    the outcome for continuous integration
"""
