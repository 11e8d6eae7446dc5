"""Random input for every part that meets what others wrote, judged by independent oracles.

`scripts/fuzz --rounds 20000 --seed 7 --area all` repeats exactly what it did before with the same
numbers. Each area makes an input of the seed and the number of the round and says what must come of
it: `csv_files` and `json_files` read files and compare with readers of their own, `pipelines`
compiles broken YAML, `names` sends hostile names through whole runs, `literals` computes CXL by the
interpreter and by Spark.
"""
