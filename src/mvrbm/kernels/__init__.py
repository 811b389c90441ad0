"""Compiled inner loops.

Every array here holds things (questions, options, features, hidden units) in rows and people in columns, so
that the innermost loop runs over people: it has no branches that differ between types and fills whole SIMD
registers. All kernels release the GIL and are cached on disk.
"""
