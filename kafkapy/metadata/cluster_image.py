"""Brokers and controllers as they registered themselves in the metadata log.

A registration's epoch is the log offset of the RegisterBrokerRecord that made it. Later records change a registration
only when they carry that same epoch, so what a broker's earlier life left behind cannot touch its present one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafkapy.errors import FormatError
from kafkapy.formats.message import Value
from kafkapy.formats.metadata_record import MetadataRecord
from kafkapy.formats.uuid import uuid_bytes
from kafkapy.metadata.features import IBP_3_4_IV0, IBP_3_7_IV2, IBP_4_3_IV0
from kafkapy.metadata.records import new_record

# What a BrokerRegistrationChangeRecord's number makes of a flag; 0 leaves it.
_FENCED = {-1: False, 1: True}
_IN_CONTROLLED_SHUTDOWN = {1: True}

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class Endpoint(NamedTuple):
    """A listener; ``security_protocol`` is its number, see SECURITY_PROTOCOLS."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class VersionRange(NamedTuple):
    min: int
    max: int

    def __str__(self) -> str:
        if self.min == self.max:
            return str(self.min)
        return f"{self.min}+" if self.max == 0x7FFF else f"{self.min}-{self.max}"


class BrokerRegistration(NamedTuple):
    """``cordoned`` is None where the broker never told: brokers before 4.3 do not know of cordoned log dirs."""

    id: int
    epoch: int
    incarnation_id: str
    listeners: tuple[Endpoint, ...]
    supported_features: Mapping[str, VersionRange]
    rack: str | None = None
    fenced: bool = True
    in_controlled_shutdown: bool = False
    directories: tuple[str, ...] = ()
    cordoned: tuple[str, ...] | None = None
    is_migrating_zk_broker: bool = False

    @property
    def has_uncordoned_directories(self) -> bool:
        """Whether new replicas may be placed on it."""
        return not self.directories or not self.cordoned or not set(self.cordoned).issuperset(self.directories)


class ControllerRegistration(NamedTuple):
    id: int
    incarnation_id: str
    listeners: tuple[Endpoint, ...]
    supported_features: Mapping[str, VersionRange]
    zk_migration_ready: bool = False


def broker_from_record(value: Value) -> BrokerRegistration:
    cordoned = value["cordonedLogDirs"]
    return BrokerRegistration(
        value["brokerId"],
        value["brokerEpoch"],
        value["incarnationId"],
        _endpoints(value["endPoints"]),
        _ranges(value["features"]),
        value["rack"],
        value["fenced"],
        value["inControlledShutdown"],
        sort_uuids(value["logDirs"]),
        None if cordoned is None else tuple(cordoned),
        value["isMigratingZkBroker"],
    )


def change_registration(broker: BrokerRegistration, change: Value) -> BrokerRegistration:
    """The registration after a BrokerRegistrationChangeRecord."""
    cordoned = change["cordonedLogDirs"]
    return broker._replace(
        fenced=_changed(_FENCED, change, "fenced", broker.fenced),
        in_controlled_shutdown=_changed(
            _IN_CONTROLLED_SHUTDOWN, change, "inControlledShutdown", broker.in_controlled_shutdown
        ),
        directories=sort_uuids(change["logDirs"]) if change["logDirs"] else broker.directories,
        cordoned=broker.cordoned if cordoned is None else tuple(cordoned),
    )


def broker_record(broker: BrokerRegistration, metadata_version: int) -> MetadataRecord:
    """The registration as a record, without what brokers of that metadata.version do not know."""
    value: Value = {
        "brokerId": broker.id,
        "isMigratingZkBroker": broker.is_migrating_zk_broker,
        "incarnationId": broker.incarnation_id,
        "brokerEpoch": broker.epoch,
        "endPoints": _endpoint_values(broker.listeners),
        "features": _range_values(broker.supported_features),
        "rack": broker.rack,
        "fenced": broker.fenced,
        "inControlledShutdown": broker.in_controlled_shutdown,
    }
    if metadata_version >= IBP_3_7_IV2:
        value["logDirs"] = list(broker.directories)
    if metadata_version >= IBP_4_3_IV0 and broker.cordoned is not None:
        value["cordonedLogDirs"] = list(broker.cordoned)
    return new_record("RegisterBrokerRecord", _register_broker_version(metadata_version), value)


def controller_from_record(value: Value) -> ControllerRegistration:
    return ControllerRegistration(
        value["controllerId"],
        value["incarnationId"],
        _endpoints(value["endPoints"]),
        _ranges(value["features"]),
        value["zkMigrationReady"],
    )


def controller_record(controller: ControllerRegistration) -> MetadataRecord:
    value: Value = {
        "controllerId": controller.id,
        "incarnationId": controller.incarnation_id,
        "zkMigrationReady": controller.zk_migration_ready,
        "endPoints": _endpoint_values(controller.listeners),
        "features": _range_values(controller.supported_features),
    }
    return new_record("RegisterControllerRecord", 0, value)


def sort_uuids(ids: Iterable[str]) -> tuple[str, ...]:
    """In the order of Kafka's Uuid, which compares its two halves as signed numbers."""
    return tuple(sorted(ids, key=_signed_halves))


def _signed_halves(text: str) -> tuple[int, int]:
    data = uuid_bytes(text)
    return int.from_bytes(data[:8], signed=True), int.from_bytes(data[8:], signed=True)


def _register_broker_version(metadata_version: int) -> int:
    if metadata_version >= IBP_4_3_IV0:
        return 4
    if metadata_version >= IBP_3_7_IV2:
        return 3
    return 2 if metadata_version >= IBP_3_4_IV0 else 1


def _changed(meanings: Mapping[int, bool], change: Value, field: str, present: bool) -> bool:
    number = change[field]
    if number == 0:
        return present
    if number not in meanings:
        raise FormatError(f"Unable to replay {change}: unknown value for {field} field: {number}")
    return meanings[number]


def _endpoints(values: list[Value]) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(item["name"], item["host"], item["port"], item["securityProtocol"]) for item in values)


def _endpoint_values(endpoints: Iterable[Endpoint]) -> list[dict[str, Any]]:
    names = ("name", "host", "port", "securityProtocol")
    return [dict(zip(names, endpoint, strict=True)) for endpoint in endpoints]


def _ranges(values: list[Value]) -> dict[str, VersionRange]:
    return {item["name"]: VersionRange(item["minSupportedVersion"], item["maxSupportedVersion"]) for item in values}


def _range_values(ranges: Mapping[str, VersionRange]) -> list[dict[str, Any]]:
    return [
        {"name": name, "minSupportedVersion": lowest, "maxSupportedVersion": highest}
        for name, (lowest, highest) in sorted(ranges.items())
    ]
