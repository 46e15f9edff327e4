"""The subcommands of `decider`, a file each, loaded by name when they are called."""
