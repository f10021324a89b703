"""The command line: words in, exit status out. Nobody imports it."""
