"""A format for tests: one line is one record, its text the value of the column `line`."""
