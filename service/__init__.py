"""The command line, the build, and everything that a person or an agent asks."""
