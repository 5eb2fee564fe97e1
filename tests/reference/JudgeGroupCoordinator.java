import java.io.BufferedWriter;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.re2j.Pattern;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.Utils;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.CurrentAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Kafka's group coordinator as a judge, many questions in one JVM. Each line of the first file is a question as JSON; the
 * second file gets a line of JSON for each. Questions build upon each other: a coordinator has metadata, a log and a
 * clock, and heartbeats change its groups.
 */
public class JudgeGroupCoordinator {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();

    private final Map<String, CoordinatorTimer.TimeoutOperation<CoordinatorRecord>> timers = new HashMap<>();
    private final Deque<Supplier<CoordinatorResult<Void, CoordinatorRecord>>> tasks = new ArrayDeque<>();
    private final List<CoordinatorRecord> log = new ArrayList<>();
    private MetadataImage image = MetadataImage.EMPTY;
    private GroupCoordinatorShard shard;
    private long now;
    private int intervalMs;

    public static void main(String[] args) throws Exception {
        JudgeGroupCoordinator judge = new JudgeGroupCoordinator();
        try (BufferedWriter out = Files.newBufferedWriter(Path.of(args[1]))) {
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                out.write(JSON.writeValueAsString(judge.answer(JSON.readTree(line))));
                out.newLine();
            }
        }
    }

    private JsonNode answer(JsonNode question) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            switch (question.get("ask").asText()) {
                case "begin" -> begin(question);
                case "metadata" -> metadata(question);
                case "clock" -> now = question.get("now").asLong();
                case "replay" -> replay(question);
                case "reload" -> load();
                case "heartbeat" -> heartbeat(question, answer);
                case "timeout" -> timeout(question, answer);
                case "hash" -> hash(question, answer);
                case "reconcile" -> reconcile(question, answer);
                case "match" -> match(question, answer);
                default -> throw new IllegalArgumentException(question.toString());
            }
        } catch (ApiException error) {
            answer.put("error", error.getClass().getSimpleName()).put("message", error.getMessage());
        }
        return answer;
    }

    private void begin(JsonNode question) {
        image = MetadataImage.EMPTY;
        log.clear();
        intervalMs = question.get("interval").asInt();
        now = question.get("now").asLong();
        load();
    }

    private void load() {
        timers.clear();
        tasks.clear();
        AbstractConfig config = new AbstractConfig(AbstractKafkaConfig.CONFIG_DEF, Map.of(
            "group.consumer.assignment.interval.ms", intervalMs, "node.id", 1, "process.roles", "broker",
            "controller.listener.names", "CONTROLLER"), false);
        GroupCoordinatorConfig groupConfig = new GroupCoordinatorConfig(config);
        GroupConfigManager manager = new GroupConfigManager(Map.of(), groupConfig, new ShareGroupConfig(config));
        GroupCoordinatorShard.Builder builder = new GroupCoordinatorShard.Builder(groupConfig, manager);
        builder.withAuthorizerPlugin(Optional.empty());
        shard = builder.withLogContext(new LogContext()).withSnapshotRegistry(new SnapshotRegistry(new LogContext()))
            .withTime(time()).withTimer(timer()).withExecutor(executor())
            .withCoordinatorMetrics(new GroupCoordinatorMetrics())
            .withTopicPartition(new TopicPartition("__consumer_offsets", 0)).build();
        for (int offset = 0; offset < log.size(); offset++) shard.replay(offset, -1, (short) -1, log.get(offset));
        shard.onLoaded(new KRaftCoordinatorMetadataImage(image));
    }

    /** What the cluster has, from which the changes since the last time are found. */
    private void metadata(JsonNode question) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        question.get("brokers").fields().forEachRemaining(broker -> {
            if (image.cluster().broker(Integer.parseInt(broker.getKey())) == null) {
                delta.replay(new RegisterBrokerRecord().setBrokerId(Integer.parseInt(broker.getKey()))
                    .setRack(broker.getValue().textValue()).setFenced(true));
            }
        });
        Set<Uuid> there = new HashSet<>();
        for (JsonNode topic : question.get("topics")) {
            Uuid id = Uuid.fromString(topic.get("id").asText());
            there.add(id);
            TopicImage known = image.topics().getTopic(id);
            if (known == null) delta.replay(new TopicRecord().setName(topic.get("name").asText()).setTopicId(id));
            JsonNode replicas = topic.get("replicas");
            for (int partition = known == null ? 0 : known.partitions().size(); partition < replicas.size(); partition++) {
                List<Integer> found = integers(replicas.get(partition));
                delta.replay(new PartitionRecord().setTopicId(id).setPartitionId(partition).setReplicas(found).setIsr(found)
                    .setLeader(found.get(0)));
            }
        }
        for (Uuid id : image.topics().topicsById().keySet()) {
            if (!there.contains(id)) delta.replay(new RemoveTopicRecord().setTopicId(id));
        }
        image = delta.apply(new MetadataProvenance(question.get("offset").asLong(), 0, 0, true));
        shard.onMetadataUpdate(new KRaftCoordinatorMetadataDelta(delta), new KRaftCoordinatorMetadataImage(image));
    }

    private void replay(JsonNode question) {
        for (JsonNode record : question.get("records")) {
            ByteBuffer key = ByteBuffer.wrap(HEX.parseHex(record.get(0).asText()));
            ByteBuffer value = record.get(1).isNull() ? null : ByteBuffer.wrap(HEX.parseHex(record.get(1).asText()));
            append(List.of(SERDE.deserialize(key, value)), null);
        }
    }

    private void heartbeat(JsonNode question, ObjectNode answer) {
        ConsumerGroupHeartbeatRequestData request = new ConsumerGroupHeartbeatRequestData()
            .setGroupId(question.get("group").asText())
            .setMemberId(question.get("member").asText())
            .setMemberEpoch(question.get("epoch").asInt())
            .setInstanceId(question.get("instance").textValue())
            .setRackId(question.get("rack").textValue())
            .setRebalanceTimeoutMs(question.get("timeout").asInt())
            .setSubscribedTopicNames(question.get("names").isNull() ? null : strings(question.get("names")))
            .setSubscribedTopicRegex(question.get("regex").textValue())
            .setServerAssignor(question.get("assignor").textValue())
            .setTopicPartitions(owned(question.get("owned")));
        ArrayNode batches = answer.putArray("batches");
        CoordinatorResult<ConsumerGroupHeartbeatResponseData, CoordinatorRecord> result =
            shard.consumerGroupHeartbeat(context(question.get("client").asText()), request);
        append(result.records(), batches);
        answer.put("epoch", result.response().memberEpoch());
        if (result.response().assignment() == null) {
            answer.putNull("assigned");
        } else {
            ObjectNode assigned = answer.putObject("assigned");
            result.response().assignment().topicPartitions().forEach(topic ->
                assigned.set(topic.topicId().toString(), JSON.valueToTree(topic.partitions())));
        }
        while (!tasks.isEmpty()) append(tasks.poll().get().records(), batches);
    }

    private void timeout(JsonNode question, ObjectNode answer) {
        String key = "session-timeout-" + question.get("group").asText() + "-" + question.get("member").asText();
        append(timers.get(key).generateRecords().records(), answer.putArray("batches"));
    }

    private void append(List<CoordinatorRecord> records, ArrayNode batches) {
        ArrayNode batch = batches == null || records.isEmpty() ? null : batches.addArray();
        for (CoordinatorRecord record : records) {
            shard.replay(log.size(), -1, (short) -1, record);
            log.add(record);
            if (batch != null) {
                byte[] value = SERDE.serializeValue(record);
                batch.addArray().add(HEX.formatHex(SERDE.serializeKey(record)))
                    .add(value == null ? null : HEX.formatHex(value));
            }
        }
    }

    private void hash(JsonNode question, ObjectNode answer) {
        CoordinatorMetadataImage wrapped = new KRaftCoordinatorMetadataImage(image);
        Map<String, Long> hashes = new HashMap<>();
        for (String name : strings(question.get("topics"))) {
            if (wrapped.topicMetadata(name).isPresent()) hashes.put(name, Utils.computeTopicHash(name, wrapped));
        }
        answer.put("hash", Utils.computeGroupHash(hashes));
    }

    private void reconcile(JsonNode question, ObjectNode answer) {
        ConsumerGroupMember member = new ConsumerGroupMember.Builder("member")
            .setMemberEpoch(question.get("epoch").asInt())
            .setPreviousMemberEpoch(question.get("previous").asInt())
            .setState(MemberState.fromValue((byte) question.get("state").asInt()))
            .setSubscribedTopicNames(strings(question.get("names")))
            .setAssignedPartitions(epochs(question.get("assigned")))
            .setPartitionsPendingRevocation(epochs(question.get("pending")))
            .build();
        Map<Uuid, Set<Integer>> target = new HashMap<>();
        question.get("target").fields().forEachRemaining(topic ->
            target.put(Uuid.fromString(topic.getKey()), new HashSet<>(integers(topic.getValue()))));
        Map<Uuid, Map<Integer, Integer>> taken = epochs(question.get("taken"));
        ConsumerGroupMember next = new CurrentAssignmentBuilder(member)
            .withMetadataImage(new KRaftCoordinatorMetadataImage(image))
            .withTargetAssignment(question.get("target_epoch").asInt(), new Assignment(target))
            .withHasSubscriptionChanged(question.get("changed").asBoolean())
            .withCurrentPartitionEpoch((topic, each) -> taken.getOrDefault(topic, Map.of()).getOrDefault(each, -1))
            .withOwnedTopicPartitions(owned(question.get("owned")))
            .build();
        answer.put("epoch", next.memberEpoch()).put("previous", next.previousMemberEpoch());
        answer.put("state", next.state().value());
        answer.set("assigned", tree(next.assignedPartitions()));
        answer.set("pending", tree(next.partitionsPendingRevocation()));
    }

    private void match(JsonNode question, ObjectNode answer) {
        Pattern pattern = Pattern.compile(question.get("regex").asText());
        ArrayNode found = answer.putArray("matches");
        for (String name : strings(question.get("names"))) if (pattern.matcher(name).matches()) found.add(name);
    }

    private static List<String> strings(JsonNode node) {
        List<String> found = new ArrayList<>();
        node.forEach(each -> found.add(each.asText()));
        return found;
    }

    private static List<Integer> integers(JsonNode node) {
        List<Integer> found = new ArrayList<>();
        node.forEach(each -> found.add(each.asInt()));
        return found;
    }

    private static List<ConsumerGroupHeartbeatRequestData.TopicPartitions> owned(JsonNode node) {
        if (node.isNull()) return null;
        List<ConsumerGroupHeartbeatRequestData.TopicPartitions> found = new ArrayList<>();
        node.fields().forEachRemaining(topic -> found.add(new ConsumerGroupHeartbeatRequestData.TopicPartitions()
            .setTopicId(Uuid.fromString(topic.getKey())).setPartitions(integers(topic.getValue()))));
        return found;
    }

    private static Map<Uuid, Map<Integer, Integer>> epochs(JsonNode node) {
        Map<Uuid, Map<Integer, Integer>> found = new HashMap<>();
        node.fields().forEachRemaining(topic -> {
            Map<Integer, Integer> partitions = new HashMap<>();
            topic.getValue().fields().forEachRemaining(each ->
                partitions.put(Integer.parseInt(each.getKey()), each.getValue().asInt()));
            found.put(Uuid.fromString(topic.getKey()), partitions);
        });
        return found;
    }

    private static JsonNode tree(Map<Uuid, Map<Integer, Integer>> epochs) {
        ObjectNode found = JSON.createObjectNode();
        epochs.forEach((topic, partitions) -> found.set(topic.toString(), JSON.valueToTree(partitions)));
        return found;
    }

    private static AuthorizableRequestContext context(String clientId) {
        return (AuthorizableRequestContext) Proxy.newProxyInstance(
            JudgeGroupCoordinator.class.getClassLoader(), new Class<?>[] {AuthorizableRequestContext.class},
            (proxy, method, args) -> switch (method.getName()) {
                case "clientId" -> clientId;
                case "clientAddress" -> InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
                default -> throw new UnsupportedOperationException(method.getName());
            });
    }

    private Time time() {
        return new Time() {
            @Override public long milliseconds() {
                return now;
            }

            @Override public long nanoseconds() {
                return now * 1_000_000;
            }

            @Override public void sleep(long ms) {
                throw new UnsupportedOperationException();
            }

            @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
                throw new UnsupportedOperationException();
            }
        };
    }

    private CoordinatorTimer<CoordinatorRecord> timer() {
        return new CoordinatorTimer<>() {
            @Override public void schedule(
                String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation
            ) {
                timers.put(key, operation);
            }

            @Override public void schedule(
                String key, long delay, TimeUnit unit, boolean retry, long backoff,
                TimeoutOperation<CoordinatorRecord> operation
            ) {
                timers.put(key, operation);
            }

            @Override public void scheduleIfAbsent(
                String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation
            ) {
                timers.putIfAbsent(key, operation);
            }

            @Override public void cancel(String key) {
                timers.remove(key);
            }

            @Override public boolean isScheduled(String key) {
                return timers.containsKey(key);
            }
        };
    }

    /** Runs what is handed to it when the heartbeat is over, as soon as a thread could. */
    private CoordinatorExecutor<CoordinatorRecord> executor() {
        return new CoordinatorExecutor<>() {
            @Override public <R> boolean schedule(
                String key, TaskRunnable<R> task, TaskOperation<CoordinatorRecord, R> operation
            ) {
                return tasks.add(() -> {
                    try {
                        return operation.onComplete(task.run(), null);
                    } catch (Throwable error) {
                        throw new IllegalStateException(error);
                    }
                });
            }

            @Override public boolean isScheduled(String key) {
                return !tasks.isEmpty();
            }

            @Override public void cancel(String key) {
                tasks.clear();
            }
        };
    }
}
