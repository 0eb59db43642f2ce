"""The tests and what they share: a package, because a dependency installs one of this name."""
