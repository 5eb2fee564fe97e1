import java.io.BufferedWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.apache.kafka.timeline.TimelineHashMap;

/**
 * Divides partitions with Kafka's own assignors, many cases in one JVM. Each line of the first file is a case as JSON;
 * the second file gets a line of JSON for each: what was assigned, or {"error": simple name of the exception}.
 */
public class AssignMany {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        try (BufferedWriter out = Files.newBufferedWriter(Path.of(args[1]))) {
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                JsonNode job = JSON.readTree(line);
                Object answer;
                try {
                    answer = job.get("side").asText().equals("client") ? client(job) : server(job);
                } catch (RuntimeException | AssertionError e) {
                    answer = Map.of("error", e.getClass().getSimpleName());
                }
                out.write(JSON.writeValueAsString(answer));
                out.newLine();
            }
        }
    }

    private static Object client(JsonNode job) {
        ConsumerPartitionAssignor assignor = newAssignor(job.get("name").asText());
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : job.get("members")) {
            byte[] bytes = Base64.getDecoder().decode(member.get("subscription").asText());
            Subscription subscription = ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(bytes));
            subscription.setGroupInstanceId(Optional.ofNullable(member.get("instance").textValue()));
            subscriptions.put(member.get("id").asText(), subscription);
        }
        Map<String, Assignment> assigned =
            assignor.assign(cluster(job.get("topics")), new GroupSubscription(subscriptions)).groupAssignment();
        Map<String, Object> answer = new LinkedHashMap<>();
        assigned.forEach((member, assignment) -> {
            List<Object> partitions = new ArrayList<>();
            for (TopicPartition partition : assignment.partitions())
                partitions.add(List.of(partition.topic(), partition.partition()));
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("partitions", partitions);
            told.put("user_data", userData(job, assignment));
            answer.put(member, told);
        });
        return answer;
    }

    private static ConsumerPartitionAssignor newAssignor(String name) {
        switch (name) {
            case "range": return new org.apache.kafka.clients.consumer.RangeAssignor();
            case "roundrobin": return new org.apache.kafka.clients.consumer.RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            default: return new CooperativeStickyAssignor();
        }
    }

    @SuppressWarnings({"deprecation", "removal"})
    private static String userData(JsonNode job, Assignment assignment) {
        ConsumerPartitionAssignor assignor = newAssignor(job.get("name").asText());
        assignor.onAssignment(assignment, new ConsumerGroupMetadata("g", job.get("generation").asInt(), "m", Optional.empty()));
        ByteBuffer data = assignor.subscriptionUserData(Set.of());
        if (data == null)
            return null;
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static Cluster cluster(JsonNode topics) {
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.fields().forEachRemaining(topic -> {
            for (int number = 0; number < topic.getValue().size(); number++) {
                List<Node> replicas = new ArrayList<>();
                for (JsonNode rack : topic.getValue().get(number))
                    replicas.add(new Node(replicas.size(), "host", 9092, rack.textValue()));
                Node[] nodes = replicas.toArray(new Node[0]);
                partitions.add(new PartitionInfo(topic.getKey(), number, Node.noNode(), nodes, nodes));
            }
        });
        return new Cluster("c", List.of(), partitions, Set.of(), Set.of());
    }

    private static Object server(JsonNode job) {
        Image image = new Image(job.get("topics"));
        Map<String, ConsumerGroupMember> members = new TimelineHashMap<>(new SnapshotRegistry(new LogContext()), 0);
        Map<String, org.apache.kafka.coordinator.group.modern.Assignment> current = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        ConsumerTargetAssignmentBuilder builder = new ConsumerTargetAssignmentBuilder(
            "g", 1, job.get("name").asText().equals("range") ? new RangeAssignor() : new UniformAssignor());
        for (JsonNode each : job.get("members")) {
            String id = each.get("id").asText();
            List<String> names = new ArrayList<>();
            each.get("topics").forEach(name -> names.add(name.asText()));
            ConsumerGroupMember member = new ConsumerGroupMember.Builder(id)
                .setInstanceId(each.get("instance").textValue())
                .setSubscribedTopicNames(names)
                .build();
            if (id.equals(job.get("joining").textValue()))
                builder.addOrUpdateMember(id, member);
            else
                members.put(id, member);
            if (!each.get("current").isNull())
                current.put(id, target(each.get("current"), id, inverted));
        }
        ConsumerTargetAssignmentBuilder.TargetAssignmentResult result = builder
            .withTime(Time.SYSTEM)
            .withMembers(members)
            .withSubscriptionType(SubscriptionType.valueOf(job.get("type").asText()))
            .withTargetAssignment(current)
            .withInvertedTargetAssignment(inverted)
            .withMetadataImage(image)
            .build();
        return answer(result);
    }

    private static Object answer(ConsumerTargetAssignmentBuilder.TargetAssignmentResult result) {
        Map<String, Object> assigned = new LinkedHashMap<>();
        result.targetAssignment().forEach((id, assignment) -> assigned.put(id, listed(assignment)));
        List<String> written = new ArrayList<>();
        result.records().forEach(record -> {
            if (record.key() instanceof ConsumerGroupTargetAssignmentMemberKey key)
                written.add(key.memberId());
        });
        return Map.of("assigned", assigned, "written", written);
    }

    private static List<Object> listed(MemberAssignment assignment) {
        List<Object> topics = new ArrayList<>();
        assignment.partitions().forEach((id, partitions) -> topics.add(List.of(id.toString(), new ArrayList<>(partitions))));
        return topics;
    }

    private static org.apache.kafka.coordinator.group.modern.Assignment target(
        JsonNode current, String member, Map<Uuid, Map<Integer, String>> inverted
    ) {
        ConsumerGroupTargetAssignmentMemberValue value = new ConsumerGroupTargetAssignmentMemberValue();
        for (JsonNode topic : current) {
            Uuid id = Uuid.fromString(topic.get(0).asText());
            List<Integer> partitions = new ArrayList<>();
            topic.get(1).forEach(number -> {
                partitions.add(number.asInt());
                inverted.computeIfAbsent(id, __ -> new HashMap<>()).put(number.asInt(), member);
            });
            value.topicPartitions().add(
                new ConsumerGroupTargetAssignmentMemberValue.TopicPartition().setTopicId(id).setPartitions(partitions));
        }
        return org.apache.kafka.coordinator.group.modern.Assignment.fromRecord(value);
    }

    /** Topics alone: name, id and how many partitions. */
    private static class Image implements CoordinatorMetadataImage {
        private record Topic(String name, Uuid id, int partitionCount) implements TopicMetadata {
            @Override
            public List<String> partitionRacks(int partition) {
                return List.of();
            }
        }

        private final Map<String, TopicMetadata> byName = new HashMap<>();
        private final Map<Uuid, TopicMetadata> byId = new HashMap<>();

        Image(JsonNode topics) {
            topics.fields().forEachRemaining(topic -> {
                Uuid id = Uuid.fromString(topic.getValue().get(0).asText());
                Topic made = new Topic(topic.getKey(), id, topic.getValue().get(1).asInt());
                byName.put(topic.getKey(), made);
                byId.put(id, made);
            });
        }

        @Override
        public Set<Uuid> topicIds() {
            return byId.keySet();
        }

        @Override
        public Set<String> topicNames() {
            return byName.keySet();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(byName.get(name));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.ofNullable(byId.get(id));
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return CoordinatorMetadataDelta.EMPTY;
        }

        @Override
        public long version() {
            return 0;
        }

        @Override
        public boolean isEmpty() {
            return false;
        }
    }
}
