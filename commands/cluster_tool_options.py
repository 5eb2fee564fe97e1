"""The options by which kafka-cluster.sh names a cluster: the usual ones with its short forms, and an old one."""

from typing import TYPE_CHECKING, Annotated

from kafkapy.contexts.context_option import CLUSTER
from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output

from .cluster_options import (
    bootstrap_controller_option,
    bootstrap_option,
    command_config_option,
    selection,
)
from .option_kinds import value
from .tool_errors import say

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection

BootstrapOption = Annotated[str | None, bootstrap_option("-b")]
BootstrapControllerOption = Annotated[str | None, bootstrap_controller_option("-C")]
CommandConfigOption = Annotated[str | None, command_config_option("-c")]
ConfigOption = Annotated[
    str | None,
    value("--config", "FILE.properties", "Deprecated: --command-config.", CLUSTER),
]

DEPRECATED = (
    "Option --config has been deprecated and will be removed in a future version. Use --command-config instead."
)


def tool_selection(
    cluster: str | None,
    log_dirs: str | None,
    bootstrap_server: str | None,
    bootstrap_controller: str | None,
    command_config: str | None,
    config: str | None,
    output: Output = Output.KAFKA,
) -> "Selection":
    """The cluster that the options name."""
    if config is not None:
        if command_config is not None:
            raise UsageError("--config and --command-config cannot be specified together.")
        say(DEPRECATED, output)
    return selection(cluster, log_dirs, bootstrap_server, command_config or config, bootstrap_controller)
