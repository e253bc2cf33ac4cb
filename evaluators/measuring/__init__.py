"""How fast is a kernel? Paired races and intervals; first of all, is it right?"""
