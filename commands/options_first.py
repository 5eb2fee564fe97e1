"""Groups whose cluster may be named before the sub-command, where Kafka wants it, or after it."""

from typer._click import Context

from kafkapy.subcommand import Subgroup

BEFORE_THE_SUBCOMMAND = (
    *("--cluster", "--log-dirs", "--bootstrap-server", "--bootstrap-controller", "--command-config"),
    *("--context", "--output"),
)
PLACE_OF_OPTIONS = (
    "The options that name the cluster, and --output, may stand before the subcommand, where Kafka wants them, or "
    "after it; '{} COMMAND --help' lists them."
)


class OptionsFirst(Subgroup):
    """Takes the options that name the cluster before the sub-command too."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Move such options behind the sub-command."""
        at = 0
        while at < len(args) and args[at].startswith("-"):
            name, _, value = args[at].partition("=")
            if "--" + name.lstrip("-") not in BEFORE_THE_SUBCOMMAND:
                break
            at += 1 if value else 2
        first, rest = args[:at], args[at:]
        if rest and not rest[0].startswith("-"):
            rest[1:1] = first
        return super().parse_args(ctx, rest)
