"""The pieces of Spark SQL that built-ins are written in: text, which knows no engine.

Keywords and types are in capitals, functions in small letters.

- `operand`: the call of a method, and the form that its declaration states
- `aggregates`: the same of aggregates
- `windows`: the same of window functions
- `text`: literals, and numbers and moments as text
- `text_form`: the text form of any value
- `tagged`: tagged texts, one level at a time
- `strftime`: dates as text
- `number_format`: numbers as text
- `exact_sums`: sums that do not depend on the order of records
"""
