"""The columns of each command's rows, for who has no row to take them from: completions, and CSV where no row comes.
Tests hold them against rows.

A key is a command and the options that have it print other rows than without them. Where several fit what was typed,
the one of most options does; where none does, all of the command's.
"""

from __future__ import annotations

from collections.abc import Callable

COLUMNS = {
    "acls": "type resource_type resource_name pattern_type principal host operation permission_type",
    "acls --add": "type resource_type resource_name pattern_type principal host operation permission_type is_new",
    "assign": "type step rebalance change member topic partition moved_from",
    "broker-api-versions": "type node_id host port rack api_key api min_version max_version usable_version",
    "cluster advance": (
        "type topic partition leader_before leader isr_before isr elr_before elr is_unclean broker_id "
        "log_end_offset_before log_end_offset reason"
    ),
    "cluster kill-broker": (
        "type topic partition leader_before leader isr_before isr elr_before elr is_unclean broker_id "
        "log_end_offset_before log_end_offset reason"
    ),
    "cluster lag-broker": "type topic partition broker_id",
    "cluster list-endpoints": "type id host port rack fenced endpoint_type",
    "cluster replicate": (
        "type topic partition broker_id log_end_offset_before log_end_offset high_watermark is_in_sync "
        "truncated_from truncated_to leader_before leader isr_before isr elr_before elr is_unclean reason"
    ),
    "cluster start-broker": (
        "type topic partition leader_before leader isr_before isr elr_before elr is_unclean broker_id "
        "log_end_offset_before log_end_offset reason"
    ),
    "cluster status": (
        "type broker_id rack state since_timestamp leaders replicas in_sync topic partition leader leader_epoch isr "
        "elr is_leader is_in_sync log_start_offset log_end_offset high_watermark offset_ms"
    ),
    "cluster stop-broker": (
        "type topic partition leader_before leader isr_before isr elr_before elr is_unclean broker_id "
        "log_end_offset_before log_end_offset reason"
    ),
    "cluster-id": "type cluster_id",
    "config list": "type name is_current kind cluster command_config output engine master",
    "config show": "type name value source",
    "configs": (
        "type entity_type entity_name name value source sensitive read_only synonyms user client_id ip quotas "
        "iterations"
    ),
    "consumer-groups --list": (
        "type group group_type protocol state coordinator_id coordinator assignment_strategy group_epoch "
        "target_assignment_epoch members"
    ),
    "consumer-groups --describe": (
        "type group group_state topic partition leader_epoch current_offset log_start_offset log_end_offset "
        "lag consumer_id host client_id metadata commit_timestamp"
    ),
    "consumer-groups --describe --members": (
        "type group group_state consumer_id group_instance_id host client_id partitions current_epoch "
        "current_assignment target_epoch target_assignment upgraded"
    ),
    "consumer-groups --describe --state": (
        "type group group_type protocol state coordinator_id coordinator assignment_strategy group_epoch "
        "target_assignment_epoch members"
    ),
    "consumer-groups --describe --totals": "type group topic partitions partitions_with_unknown_lag lag",
    "consumer-groups --reset-offsets": (
        "type group topic partition current_offset new_offset log_start_offset log_end_offset executed"
    ),
    "consumer-groups --delete": "type group error",
    "consumer-groups --delete-offsets": "type group topic partition error",
    "consumer-groups --validate-regex": "type regex valid error",
    "consumer-offsets": (
        "type group topic partition offset leader_epoch metadata commit_timestamp expire_timestamp topic_id "
        "protocol_type generation protocol leader state_timestamp members record part value transactional_id "
        "state producer_id producer_epoch timeout_ms start_timestamp last_update_timestamp partitions deleted "
        "timestamp log_partition log_offset"
    ),
    "consumer-offsets --which-partition": "type group topic partition",
    "delete-records": "type topic partition low_watermark error",
    "doctor": "type severity place text remedy",
    "dump-log": (
        "type file position size base_offset last_offset count base_sequence last_sequence producer_id "
        "producer_epoch partition_leader_epoch transactional control delete_horizon_ms timestamp_type "
        "max_timestamp magic compression crc valid offset timestamp key_size value_size sequence header_keys "
        "headers key key_encoding value value_encoding control_record batch_position log_offset matches "
        "version first_offset last_stable_offset coordinator_epoch current_txn_first_offset last_timestamp "
        "first_sequence offset_delta"
    ),
    "dump-log --summary": (
        "type file bytes batches records control_batches transactional_batches first_offset last_offset "
        "first_timestamp last_timestamp compressed_bytes uncompressed_bytes gap_count missing_offsets damage "
        "codec_ratio codecs magics leader_epochs producers producer_count gaps"
    ),
    "export": "type table format out rows files bytes duration_ms",
    "export --dry-run": "type table is_whole topic partition from_offset to_offset offsets",
    "features describe": "type feature min_supported max_supported finalized epoch",
    "features disable": "type feature operation level is_dry_run error message",
    "features downgrade": "type feature operation level is_dry_run error message",
    "features feature-dependencies": "type feature level needed_feature needed_level",
    "features upgrade": "type feature operation level is_dry_run error message",
    "features version-mapping": "type feature level version",
    "get-offsets": "type topic partition offset",
    "groups": "type group group_type protocol state",
    "install-shims": "type name path is_there",
    "lab list": "type name title steps",
    "lab run": (
        "type step line action text did controller_epoch time_ms topic partition leader leader_epoch isr elr "
        "broker_id state is_leader is_in_sync log_start_offset log_end_offset high_watermark "
        "remote_log_end_offset log log_epochs subject expected found passed name position committed in_hand "
        "done"
    ),
    "lab show": "type step line text say",
    "lag": (
        "type timestamp group topic partition committed_offset log_end_offset lag time_lag_ms produce_rate "
        "consume_rate rates_since_timestamp catch_up_ms verdict last_commit_timestamp partitions "
        "partitions_with_unknown_lag commits_since_timestamp commits_whole until_timestamp event from_offset to_offset "
        "moved"
    ),
    "leader-election": "type topic partition election result leader error",
    "log-dirs": "type broker_id log_dir error topic partition size offset_lag is_future total_bytes usable_bytes",
    "lookup": "type step action file offset last_offset timestamp position size entries probes chosen bytes_read",
    "maintenance": "type topic partition brokers task name size size_after reason done",
    "metadata-quorum describe --status": (
        "type cluster_id leader_id leader_epoch high_watermark max_follower_lag max_follower_lag_time_ms "
        "current_voters current_observers"
    ),
    "metadata-quorum describe --replication": (
        "type node_id directory_id log_end_offset lag status last_fetch_timestamp last_caught_up_timestamp"
    ),
    "reassign-partitions --list": "type topic partition replicas adding removing isr",
    "reassign-partitions --generate": (
        "type topic partition replicas replicas_before adding removing bytes partitions replicas_moved "
        "bytes_moved leaders_moved rack_violations_before rack_violations_after counted_before "
        "counted_after replicas_imbalance_before leaders_imbalance_before bytes_imbalance_before "
        "replicas_imbalance_after leaders_imbalance_after "
        "bytes_imbalance_after throttle seconds broker bytes_in bytes_out disk_before disk_peak disk_after "
        "replicas_after leaders_before leaders_after source target bytes_drawn bytes_within_tolerance "
        "is_matched"
    ),
    "reassign-partitions --simulate": (
        "type topic partition replicas replicas_before adding removing bytes partitions replicas_moved "
        "bytes_moved leaders_moved rack_violations_before rack_violations_after counted_before "
        "counted_after replicas_imbalance_before leaders_imbalance_before bytes_imbalance_before "
        "replicas_imbalance_after leaders_imbalance_after "
        "bytes_imbalance_after throttle seconds broker bytes_in bytes_out disk_before disk_peak disk_after "
        "replicas_after leaders_before leaders_after source target log_dir_before log_dir step batch name "
        "moving stalled under_replicated without_leader isr_sizes bytes_copied disk in_sync leaders"
    ),
    "reassign-partitions --execute": "type topic partition replicas broker log_dir",
    "reassign-partitions --verify": (
        "type topic partition state target replicas adding removing isr offset_lag broker log_dir moving_to"
    ),
    "reassign-partitions --cancel": "type topic partition broker log_dir",
    "replica-diff": (
        "type topic partition broker_id path future leader in_isr in_elr log_start_offset log_end_offset "
        "last_epoch size torn_bytes lost_offsets verdict compared_from compared_to compacted_records "
        "difference_offset reason trusted_batch batch epochs_part_at truncate_to damage"
    ),
    "share-groups --list": "type group group_type protocol state",
    "share-groups --describe": "type group topic partition leader_epoch start_offset lag",
    "share-groups --describe --members": (
        "type group group_state consumer_id group_instance_id host client_id partitions current_epoch "
        "current_assignment target_epoch target_assignment upgraded"
    ),
    "share-groups --describe --state": (
        "type group group_type protocol state coordinator_id coordinator assignment_strategy group_epoch "
        "target_assignment_epoch members"
    ),
    "share-groups --reset-offsets": (
        "type group topic partition current_offset new_offset log_start_offset log_end_offset executed"
    ),
    "share-groups --delete": "type group error",
    "share-groups --delete-offsets": "type group topic error",
    "sql": "",
    "sql --tables": "table column type",
    "storage feature-dependencies": "type feature level needed_feature needed_level",
    "storage info": "type path cluster_id node_id directory_id version problem",
    "storage version-mapping": "type feature level version",
    "streams-groups --list": "type group group_type protocol state",
    "streams-groups --describe": "type group topic partition current_offset leader_epoch log_end_offset lag",
    "streams-groups --describe --members": (
        "type group member_id process_id client_id host member_epoch target_assignment_epoch topology_epoch "
        "active_tasks standby_tasks warmup_tasks target_active_tasks target_standby_tasks target_warmup_tasks"
    ),
    "streams-groups --describe --state": (
        "type group group_type protocol state coordinator_id coordinator assignment_strategy group_epoch "
        "target_assignment_epoch members"
    ),
    "streams-groups --reset-offsets": (
        "type group topic partition current_offset new_offset log_start_offset log_end_offset executed"
    ),
    "streams-groups --delete": "type group error",
    "streams-groups --delete-offsets": "type group topic partition error",
    "throughput": (
        "type start_timestamp end_timestamp topic partition producer_id bytes records batches byte_rate "
        "record_rate records_per_batch bytes_per_batch largest_batch codecs compression_ratio first_timestamp "
        "last_timestamp"
    ),
    "throughput --forecast": (
        "type topic partition segments bytes byte_rate oldest_segment oldest_segment_bytes "
        "oldest_segment_timestamp goes_timestamp reason bytes_then"
    ),
    "topics --describe": (
        "type topic topic_id partition leader replicas isr elr last_known_elr adding_replicas removing_replicas configs"
    ),
    "topics --describe --topics-with-overrides": "type topic topic_id partitions replication_factor configs",
    "topics --list": "type topic",
    "topics --from-file": "type topic action config before after",
    "tour": "type step title needs_spark commands",
    "transactions describe": (
        "type coordinator transactional_id producer_id producer_epoch state timeout_ms start_timestamp "
        "duration_ms partitions"
    ),
    "transactions describe-producers": (
        "type producer_id producer_epoch coordinator_epoch last_sequence last_timestamp current_txn_start_offset"
    ),
    "transactions find-hanging": (
        "type topic partition producer_id producer_epoch coordinator_epoch start_offset last_timestamp duration_min"
    ),
    "transactions list": "type transactional_id coordinator producer_id state",
}


def commands() -> set[str]:
    """The commands that have rows."""
    return {key.partition(" --")[0] for key in COLUMNS}


def columns_of(command: str, gives: Callable[[str], bool]) -> list[str]:
    """The columns of a command's rows, ``gives`` saying which options stand there, by their names without dashes."""
    keys = {key: key.split(" --")[1:] for key in COLUMNS if key.partition(" --")[0] == command}
    fitting = {key: len(options) for key, options in keys.items() if all(map(gives, options))}
    chosen = [key for key in fitting if fitting[key] == max(fitting.values())] or keys
    return list(dict.fromkeys(name for key in chosen for name in COLUMNS[key].split()))
