"""Generic techniques: edits of any kernel file, found in its syntax tree."""
