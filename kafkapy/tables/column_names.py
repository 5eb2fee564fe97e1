"""The columns of each table, for who must not wait for Arrow: completions. A test holds them against the schemas."""

COLUMN_NAMES = {
    "records": (
        "topic partition offset timestamp timestamp_type key value headers producer_id producer_epoch "
        "sequence leader_epoch transactional control batch_position"
    ).split(),
    "batches": (
        "topic partition base_offset last_offset count base_sequence last_sequence producer_id producer_epoch "
        "leader_epoch transactional control delete_horizon position size base_timestamp max_timestamp "
        "timestamp_type magic compression crc valid file"
    ).split(),
    "index_entries": (
        "topic partition file kind entry offset position timestamp producer_id first_offset last_offset "
        "last_stable_offset"
    ).split(),
    "offset_commits": (
        "group topic partition committed_offset leader_epoch metadata commit_timestamp expire_timestamp "
        "topic_id producer_id tombstone timestamp log_partition log_offset"
    ).split(),
    "group_metadata": (
        "group type version member_id epoch protocol_type protocol leader state_timestamp members value "
        "tombstone timestamp log_partition log_offset"
    ).split(),
    "transactions": (
        "transactional_id producer_id producer_epoch previous_producer_id next_producer_id timeout_ms state "
        "partitions start_timestamp last_update_timestamp client_transaction_version tombstone timestamp "
        "log_partition log_offset"
    ).split(),
    "metadata_records": (
        "offset timestamp epoch type version record control"
    ).split(),
    "partitions": (
        "topic partition topic_id leader leader_epoch replicas isr log_start_offset high_watermark "
        "last_stable_offset log_end_offset size segments path"
    ).split(),
}
