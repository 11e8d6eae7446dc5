"""Names bound and types checked: from the syntax tree to a typed program."""
