#!/usr/bin/env bash
# A job as operators write them, for the scripts of Kafka: run with those of a broker, it does the same.
set -euo pipefail
: "${BOOTSTRAP_SERVER:=localhost:9092}"
topic="orders of-$$"
topic=${topic// /-}

kafka-topics.sh --bootstrap-server "$BOOTSTRAP_SERVER" --create --if-not-exists --topic "$topic" \
    --partitions 2 --replication-factor 2 --config retention.ms=86400000
kafka-topics.sh --bootstrap-server="$BOOTSTRAP_SERVER" --list | grep -qx "$topic"
printf 'k1:first value\nk2:second, "quoted" value\nk1:third $value\n' |
    kafka-console-producer.sh --bootstrap-server "$BOOTSTRAP_SERVER" --topic "$topic" \
        --reader-property parse.key=true --reader-property key.separator=:
kafka-console-consumer.sh --bootstrap-server "$BOOTSTRAP_SERVER" --topic "$topic" --group "$topic readers" \
    --from-beginning --max-messages 3 --formatter-property print.key=true 2>/dev/null | sort
for offsets in $(kafka-get-offsets.sh --bootstrap-server "$BOOTSTRAP_SERVER" --topic "$topic"); do
    total=$(( ${total:-0} + ${offsets##*:} ))
done
echo "records: $total"
kafka-consumer-groups.sh --bootstrap-server "$BOOTSTRAP_SERVER" --describe --group "$topic readers" 2>/dev/null |
    awk -v topic="$topic" '$0 ~ topic { lag += $(NF - 3) } END { print "lag: " lag }'
kafka-configs.sh --bootstrap-server "$BOOTSTRAP_SERVER" --alter --entity-type topics --entity-name "$topic" \
    --add-config 'cleanup.policy=[compact,delete]'
kafka-configs.sh --bootstrap-server "$BOOTSTRAP_SERVER" --describe --entity-type topics --entity-name "$topic" |
    grep -o 'cleanup.policy=[a-z,]*' | head -n 1
printf '{"partitions": [{"topic": "%s", "partition": 0, "offset": -1}], "version": 1}' "$topic" >"$WORK/delete.json"
kafka-delete-records.sh --bootstrap-server "$BOOTSTRAP_SERVER" --offset-json-file "$WORK/delete.json" |
    grep -c low_watermark
kafka-acls.sh --bootstrap-server "$BOOTSTRAP_SERVER" --add --allow-principal User:alice --operation Describe --cluster |
    grep -c ALLOW
kafka-cluster.sh cluster-id --bootstrap-server "$BOOTSTRAP_SERVER" | cut -d: -f1
kafka-leader-election.sh --bootstrap-server "$BOOTSTRAP_SERVER" --election-type preferred --all-topic-partitions >/dev/null
kafka-metadata-quorum.sh --bootstrap-server "$BOOTSTRAP_SERVER" describe --status | grep -c LeaderId
if kafka-topics.sh --bootstrap-server "$BOOTSTRAP_SERVER" --describe --topic no-such-topic >/dev/null 2>&1; then
    echo "a topic that is not there was described"
fi
kafka-topics.sh --bootstrap-server "$BOOTSTRAP_SERVER" --delete --topic "$topic"
kafka-topics.sh --bootstrap-server "$BOOTSTRAP_SERVER" --list | grep -x "$topic" || echo "deleted"
