"""``kafkapy acls``: kafka-acls.sh."""

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from . import acl_options as options
from .cluster_options import (
    BootstrapControllerOption,
    BootstrapOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .tool_errors import fail, fail_on_stdout, warn

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection
    from kafkapy.metadata.acl_selection import Access, Resources
    from kafkapy.metadata.acls import AccessControlEntry, ResourcePattern
    from kafkapy.metadata.security_image import Acl

THE_CLUSTER = ""  # what stands for --cluster without a directory


class AclCommand(Subcommand):
    """``--cluster`` alone means the cluster as a resource, as with Kafka's tool."""

    optional_arguments: ClassVar[Mapping[str, str]] = {"--cluster": THE_CLUSTER, "--principal": ""}


app = new_app()


@app.command(
    cls=AclCommand,
    epilog=examples(
        ("List all ACLs of a running cluster:", "kafkapy acls --bootstrap-server localhost:9092 --list"),
        (
            "Let a user read a topic in a group:",
            "kafkapy acls --bootstrap-server localhost:9092 --add --consumer --topic orders --group billing "
            "--allow-principal User:alice",
        ),
        (
            "Remove all ACLs of topics with this prefix, in a cluster directory:",
            "kafkapy acls --cluster demo --remove --topic orders- --resource-pattern-type prefixed --force",
        ),
        (
            "Let a user change the cluster itself:",
            "kafkapy acls --bootstrap-server localhost:9092 --add --cluster --operation Alter "
            "--allow-principal User:admin",
        ),
    ),
)
def acls(
    add: options.AddOption = False,
    remove: options.RemoveOption = False,
    list_: options.ListOption = False,
    topic: options.TopicOption = None,
    cluster: options.ClusterOrDirectoryOption = None,
    group: options.GroupOption = None,
    transactional_id: options.TransactionalIdOption = None,
    delegation_token: options.DelegationTokenOption = None,
    user_principal: options.UserPrincipalOption = None,
    resource_pattern_type: options.PatternTypeOption = "literal",
    allow_principal: options.AllowPrincipalOption = None,
    deny_principal: options.DenyPrincipalOption = None,
    allow_host: options.AllowHostOption = None,
    deny_host: options.DenyHostOption = None,
    operation: options.OperationOption = None,
    producer: options.ProducerOption = False,
    consumer: options.ConsumerOption = False,
    idempotent: options.IdempotentOption = False,
    principal: options.PrincipalOption = None,
    force: options.ForceOption = False,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """List, add and remove ACLs: who may do what with topics, groups and the cluster itself.

    An ACL allows or denies a principal (such as User:alice) an operation on a resource, from any host or only from
    some. Brokers check ACLs only if an authorizer is configured. If one ACL denies an operation, no other can allow it.
    """
    from kafkapy.metadata.acl_selection import Access, Resources, parse_pattern_type

    directories = [each for each in cluster or () if each != THE_CLUSTER]
    resources = Resources(
        parse_pattern_type(resource_pattern_type),
        tuple(topic or ()),
        THE_CLUSTER in (cluster or ()),
        tuple(group or ()),
        tuple(transactional_id or ()),
        tuple(delegation_token or ()),
        tuple(user_principal or ()),
        idempotent,
    )
    access = Access(
        tuple(operation or ("All",)),
        tuple(allow_principal or ()),
        tuple(deny_principal or ()),
        tuple(allow_host or ()),
        tuple(deny_host or ()),
        producer,
        consumer,
    )
    options.check_usage((add, remove, list_), resources, access, operation is not None, principal is not None)
    if len(directories) > 1:
        raise UsageError("--cluster names two directories")
    where = selection(
        directories[0] if directories else None, log_dirs, bootstrap_server, command_config, bootstrap_controller
    )
    try:
        if list_:
            _list(where, resources, principal or [], output)
        elif add:
            _add(where, resources, access, output)
        else:
            _remove(where, resources, access, force)
    except KafkaError as error:
        _fail(error, output)


def _list(where: "Selection", resources: "Resources", principals: list[str], output: Output) -> None:
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.acl_selection import parse_principal
    from kafkapy.metadata.acls import ANY_ENTRY, ANY_RESOURCE, AclFilter

    patterns = resources.patterns() or [ANY_RESOURCE]
    wanted = sorted(set(map(parse_principal, principals)))
    with closing(open_cluster(where)) as opened:
        found = opened.administration().acls([AclFilter(pattern, ANY_ENTRY) for pattern in patterns])
        _print(found, wanted, output)
        for hint in _hints(opened, resources, wanted, found):
            warn(f"kafkapy: {hint}")


def _hints(opened: "Cluster", resources: "Resources", principals: list[str], found: "list[Acl]") -> Iterator[str]:
    """Where there is no such ACL, which topics, groups and principals were probably meant."""
    from kafkapy.metadata.acls import ANY_ENTRY, ANY_RESOURCE, GROUP, TOPIC, AclFilter
    from kafkapy.near_misses import hint

    if any(not principals or acl.principal in principals for acl in found):
        return
    everything = opened.administration().acls([AclFilter(ANY_RESOURCE, ANY_ENTRY)])
    for resource_type, what, names in ((TOPIC, "topic", resources.topics), (GROUP, "group", resources.groups)):
        known = {acl.resource_name for acl in everything if acl.resource_type == resource_type}
        if resource_type == TOPIC and names:
            with suppress(KafkapyError):  # controllers do not tell which topics there are
                known.update(opened.image().topics)
        yield from filter(None, (hint(what, name, known) for name in names))
    for principal in principals:
        kind, _, name = principal.partition(":")
        known = {other for each in everything for type_, _, other in [each.principal.partition(":")] if type_ == kind}
        yield from filter(None, [hint(kind.lower(), name, known)])


def _print(found: "list[Acl]", wanted: list[str], output: Output) -> None:
    from kafkapy.output.acl_lines import list_pairs
    from kafkapy.output.printing import print_lines, print_rows

    if output != Output.KAFKA:
        print_rows(output, list_pairs(acl for acl in found if not wanted or acl.principal in wanted))
        return
    if not wanted:
        print_lines(line for line, _ in list_pairs(found))
    for principal in wanted:
        print_lines([f"ACLs for principal `{principal}`"])
        print_lines(line for line, _ in list_pairs(acl for acl in found if acl.principal == principal))


def _add(where: "Selection", resources: "Resources", access: "Access", output: Output) -> None:
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.metadata.acl_selection import wanted_acls
    from kafkapy.metadata.acls import LITERAL, PATTERN_TYPES, PREFIXED

    if resources.pattern_type not in (LITERAL, PREFIXED):
        kind = PATTERN_TYPES[resources.pattern_type]
        raise UsageError(f"A '--resource-pattern-type' value of '{kind}' is not valid when adding acls.")
    wanted = wanted_acls(resources, access)
    if not all(wanted.values()):
        raise UsageError("You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.")
    from kafkapy.output.printing import print_rows

    with closing(open_cluster_for_writing(where)) as opened:
        print_rows(output, (pair for pattern, entries in wanted.items() for pair in _added(opened, pattern, entries)))


def _added(
    opened: "Cluster", pattern: "ResourcePattern", entries: "list[AccessControlEntry]"
) -> Iterator[tuple[str | None, dict[str, Any] | None]]:
    """Kafka's lines stand before a resource's ACLs are added, rows behind it."""
    from kafkapy.metadata.acls import ANY_ENTRY, AclFilter, bound
    from kafkapy.metadata.changes import CreateAcl
    from kafkapy.output.acl_lines import added_row, adding_lines, exists_line

    present = opened.administration().acls([AclFilter(pattern, ANY_ENTRY)])
    is_new = {entry: bound(pattern, entry) not in present for entry in entries}
    yield from ((exists_line(pattern, entry), None) for entry in entries if not is_new[entry])
    new = [entry for entry in entries if is_new[entry]]
    if new:
        yield from ((line, None) for line in adding_lines(pattern, new))
        opened.apply(*(CreateAcl(bound(pattern, entry)) for entry in new))
    yield from ((None, added_row(bound(pattern, entry), is_new[entry])) for entry in entries)


def _remove(where: "Selection", resources: "Resources", access: "Access", force: bool) -> None:
    from kafkapy.backends.selection import open_cluster_for_writing
    from kafkapy.metadata.acl_selection import wanted_acls
    from kafkapy.metadata.acls import ANY_ENTRY, AclFilter
    from kafkapy.metadata.changes import DeleteAcls

    wanted = wanted_acls(resources, access)
    agreed = {pattern: entries for pattern, entries in wanted.items() if force or _confirmed(pattern, entries)}
    if not agreed:
        return
    with closing(open_cluster_for_writing(where)) as opened:
        for pattern, entries in agreed.items():
            opened.apply(*(DeleteAcls(AclFilter(pattern, entry)) for entry in entries or [ANY_ENTRY]))


def _confirmed(pattern: "ResourcePattern", entries: "list[AccessControlEntry]") -> bool:
    import sys

    from kafkapy.output.acl_lines import question
    from kafkapy.output.printing import print_lines

    print_lines(question(pattern, entries))
    answer = sys.stdin.readline()
    if not answer:
        fail("kafkapy: there was no answer, so nothing was removed; --force skips the question")
    return answer.strip().lower() == "y"


def _fail(error: KafkaError, output: Output) -> NoReturn:
    """AclCommand tells its failures on stdout, those of a broker with the name of their class."""
    name = "" if error.name == "IllegalArgumentException" else f"org.apache.kafka.common.errors.{error.name}: "
    fail_on_stdout(f"Error while executing ACL command: {name}{error}", output, error)
