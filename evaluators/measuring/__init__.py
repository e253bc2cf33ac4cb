"""How fast is a kernel? Paired races, intervals, and the process that measures."""
