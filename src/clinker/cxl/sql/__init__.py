"""The pieces of Spark SQL that built-ins are written in; nothing here knows an engine."""
