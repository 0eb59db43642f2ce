"""Text normalization: from text as it is written to the words that a voice says.

`normalizer.read` is the entrance. `characters` unifies the many Unicode forms of the same sign.
Each language has a module of rules, such as `english`, which are applied by a `reading.Rewriter`.
"""
