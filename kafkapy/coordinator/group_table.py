"""The groups of a partition of ``__consumer_offsets`` while their records are replayed, as a coordinator replays them.

A GroupMetadata record is a whole classic group, and replaces what was there by that id. The records of the other types
are named after them (``ConsumerGroup...``, ``ShareGroup...``, ``StreamsGroup...``) and each replaces one part of a
group; the first makes it. A member is there from the first record of what it asked for or has. A tombstone of the
group's own record forgets the group, one of any other record that part.

A group that exists is not turned into one of another type by such a record, except one that never had members. That is
damage, as is a record of no known kind.
"""

from __future__ import annotations

from kafkapy.coordinator.group import ClassicGroup, ClassicMember, Group, GroupType, ModernGroup, ModernMember
from kafkapy.errors import SchemaError
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.formats.message import Value

CLASSIC_RECORD = "GroupMetadata"

_PREFIXES = {
    "ConsumerGroup": GroupType.CONSUMER,
    "ShareGroup": GroupType.SHARE,
    "StreamsGroup": GroupType.STREAMS,
}
_GROUP_RECORD = "Metadata"
_MEMBER_RECORDS = ("MemberMetadata", "CurrentMemberAssignment")
_NO_TIMEOUT = -1


class _Modern:
    """A group of a type other than classic: the values of its records, by what they are about."""

    def __init__(self, group_type: GroupType) -> None:
        self.type = group_type
        self.group: dict[str, Value] = {}
        self.members: dict[str, dict[str, Value]] = {}
        self.regular_expressions: dict[str, Value] = {}
        self._made: ModernGroup | None = None

    def replay(self, kind: str, key: Value, value: Value | None) -> None:
        """A record of this group, which is not the tombstone of the group's own."""
        self._made = None
        parts, name = self.group, kind
        if "memberId" in key:
            parts = self.members.setdefault(key["memberId"], {})
        elif "regularExpression" in key:
            parts, name = self.regular_expressions, key["regularExpression"]
        if value is None:
            parts.pop(name, None)
        else:
            parts[name] = value
        if "memberId" in key and not parts:
            del self.members[key["memberId"]]

    def as_group(self, group_id: str) -> ModernGroup:
        """The group as it stands."""
        if self._made is None:
            self._made = self._make(group_id)
        return self._made

    def _make(self, group_id: str) -> ModernGroup:
        members = {
            member_id: ModernMember(
                member_id,
                parts.get("MemberMetadata"),
                parts.get("TargetAssignmentMember"),
                parts.get("CurrentMemberAssignment"),
            )
            for member_id, parts in self.members.items()
            if any(kind in parts for kind in _MEMBER_RECORDS)
        }
        return ModernGroup(
            group_id,
            self.type,
            self.group.get(_GROUP_RECORD),
            self.group.get("TargetAssignmentMetadata"),
            members,
            dict(self.regular_expressions),
            self.group.get("StatePartitionMetadata"),
            self.group.get("Topology"),
        )


class GroupTable:
    """Groups by id."""

    def __init__(self) -> None:
        self._groups: dict[str, ClassicGroup | _Modern] = {}

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._groups

    def ids(self) -> list[str]:
        """Of all groups."""
        return list(self._groups)

    def get(self, group_id: str) -> Group | None:
        """A group as it stands."""
        found = self._groups.get(group_id)
        return found.as_group(group_id) if isinstance(found, _Modern) else found

    def add_simple(self, group_id: str) -> None:
        """Make a group that only keeps offsets, if there is none by this id."""
        if group_id not in self._groups:
            self._groups[group_id] = ClassicGroup(group_id)

    def replay(self, record: CoordinatorRecord) -> str:
        """Take in a record of a group; its id."""
        if record.name == CLASSIC_RECORD:
            return self._replay_classic(record)
        group_id: str = record.key["groupId"]
        for prefix, group_type in _PREFIXES.items():
            if record.name.startswith(prefix):
                self._replay_modern(group_id, group_type, record.name.removeprefix(prefix), record)
                return group_id
        raise SchemaError(f"{record.name} is no record of a group")

    def _replay_classic(self, record: CoordinatorRecord) -> str:
        group_id: str = record.key["group"]
        if record.value is None:
            self._groups.pop(group_id, None)
        else:
            self._groups[group_id] = classic_group(group_id, record.value)
        return group_id

    def _replay_modern(self, group_id: str, group_type: GroupType, kind: str, record: CoordinatorRecord) -> None:
        found = self._groups.get(group_id)
        if found is None and record.value is None:
            return
        if found is None or (group_type is not GroupType.SHARE and _is_simple(found)):
            found = self._groups[group_id] = _Modern(group_type)
        if found.type is not group_type or not isinstance(found, _Modern):
            raise SchemaError(f"Group {group_id} is not a {group_type.lower()} group")
        if kind == _GROUP_RECORD and record.value is None:
            del self._groups[group_id]
        else:
            found.replay(kind, record.key, record.value)


def classic_group(group_id: str, value: Value) -> ClassicGroup:
    """The group that the value of a GroupMetadata record tells of."""
    members = (
        ClassicMember(
            member["memberId"],
            member["groupInstanceId"],
            member["clientId"],
            member["clientHost"],
            member["rebalanceTimeout"] if member["rebalanceTimeout"] != _NO_TIMEOUT else member["sessionTimeout"],
            member["sessionTimeout"],
            member["subscription"],
            member["assignment"],
        )
        for member in value["members"]
    )
    return ClassicGroup(
        group_id,
        value["protocolType"] or "",
        value["generation"],
        value["protocol"],
        value["leader"],
        value["currentStateTimestamp"],
        {member.member_id: member for member in members},
    )


def _is_simple(group: ClassicGroup | _Modern) -> bool:
    return isinstance(group, ClassicGroup) and not group.protocol_type and not group.members
