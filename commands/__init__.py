"""One file a subcommand: its flags, one call, rows. Imported as ``kafkapy.commands``.

A module here defines ``app``, a Typer app of one command (or of a group), and is named in
``kafkapy.command_names.COMMANDS``, which is what makes the subcommand exist.
"""
