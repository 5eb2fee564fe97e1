import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer;
import org.apache.kafka.clients.consumer.internals.StreamsRebalanceData;
import org.apache.kafka.clients.consumer.internals.StreamsRebalanceListener;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Clients of a running cluster that live as long as a test wants: members of groups of every type, and producers with
 * an open transaction; and the few requests by which a test makes the state that it needs.
 *
 * The argument is the cluster's bootstrap. A line of the standard input is a request in JSON, with an "op"; a line of
 * the standard output answers it, with an "error" where it failed.
 */
public class ClientServer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TypeReference<List<String>> STRINGS = new TypeReference<>() {
    };
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration BRIEFLY = Duration.ofSeconds(10);

    private final String bootstrap;
    private final Admin admin;
    private final KafkaProducer<String, String> producer;
    private final Map<Integer, Client> clients = new HashMap<>();
    private int lastClient;

    /** What stays between two requests. */
    private interface Client {
        void end(String how) throws Exception;
    }

    /** One thread that polls until it is told to end. */
    private abstract static class Member extends Thread {
        private volatile boolean ending;
        protected volatile boolean leave = true;

        abstract void poll();

        abstract void close();

        @Override
        public void run() {
            try {
                while (!ending)
                    poll();
            } catch (WakeupException woken) {
                // ends
            } finally {
                close();
            }
        }
    }

    private ClientServer(String bootstrap) {
        this.bootstrap = bootstrap;
        admin = Admin.create(properties(null));
        Properties quick = properties(null);
        quick.put("linger.ms", "0");
        quick.put("partitioner.ignore.keys", "false");
        producer = new KafkaProducer<>(quick, new StringSerializer(), new StringSerializer());
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        ClientServer server = new ClientServer(args[0]);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                server.serve(JSON.readTree(line), answer);
            } catch (Exception exception) {
                Throwable reason = exception instanceof ExecutionException ? exception.getCause() : exception;
                answer.put("error", reason.toString());
            }
            answers.println(answer);
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private void serve(JsonNode request, ObjectNode answer) throws Exception {
        switch (request.get("op").asText()) {
            case "views" -> {
                views(request, answer.putArray("views"));
                alive(answer.putArray("alive"));
            }
            case "create" -> create(request);
            case "delete" -> admin.deleteTopics(JSON.convertValue(request.get("topics"), STRINGS)).all().get();
            case "elect" -> elect();
            case "produce" -> told(answer, send(producer, request.get("records")));
            case "commit" -> commit(request);
            case "members" -> answer.put("client", kept(members(request)));
            case "begin" -> begin(request, answer);
            case "end" -> clients.remove(request.get("client").asInt()).end(request.get("how").asText());
            default -> throw new IllegalArgumentException(request.toString());
        }
    }

    private int kept(Client client) {
        clients.put(++lastClient, client);
        return lastClient;
    }

    private Properties properties(JsonNode more) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        if (more != null)
            more.properties().forEach(each -> properties.put(each.getKey(), each.getValue().asText()));
        return properties;
    }

    /** The partitions as each broker sees them: a new client knows only the broker that it was given. */
    private void views(JsonNode request, ArrayNode views) {
        for (JsonNode address : request.get("addresses")) {
            Properties properties = properties(null);
            properties.put("bootstrap.servers", address.asText());
            properties.put("default.api.timeout.ms", "3000");
            properties.put("request.timeout.ms", "3000");
            ArrayNode view = JSON.createArrayNode();
            try (KafkaConsumer<byte[], byte[]> consumer =
                     new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                new TreeMap<>(consumer.listTopics()).values().forEach(topic -> topic.forEach(each -> seen(view, each)));
                views.add(view);
            } catch (TimeoutException notYet) {
                views.addNull();
            }
        }
    }

    /** Nobody, where none answers in time: brokers that start may take long where much else runs. */
    private void alive(ArrayNode alive) throws Exception {
        try {
            admin.describeCluster().nodes().get().stream().map(Node::id).sorted().forEach(alive::add);
        } catch (ExecutionException exception) {
            if (!(exception.getCause() instanceof TimeoutException))
                throw exception;
        }
    }

    private static void seen(ArrayNode view, PartitionInfo partition) {
        ObjectNode node = view.addObject().put("topic", partition.topic()).put("partition", partition.partition());
        node.put("leader", partition.leader() == null ? -1 : partition.leader().id());
        for (Node replica : partition.replicas())
            node.withArray("replicas").add(replica.id());
        node.putArray("isr");
        for (Node replica : partition.inSyncReplicas())
            node.withArray("isr").add(replica.id());
    }

    private void create(JsonNode request) throws Exception {
        String name = request.get("topic").asText();
        NewTopic topic;
        if (request.get("assignment").isNull()) {
            topic = new NewTopic(name, request.get("partitions").asInt(), (short) request.get("replicas").asInt());
        } else {
            Map<Integer, List<Integer>> assignment = new HashMap<>();
            for (JsonNode replicas : request.get("assignment"))
                assignment.put(assignment.size(), List.of(JSON.convertValue(replicas, Integer[].class)));
            topic = new NewTopic(name, assignment);
        }
        Map<String, String> configs = new HashMap<>();
        request.get("configs").properties().forEach(each -> configs.put(each.getKey(), each.getValue().asText()));
        admin.createTopics(List.of(topic.configs(configs))).all().get();
    }

    private void elect() throws Exception {
        for (Optional<Throwable> failed : admin.electLeaders(ElectionType.PREFERRED, null).partitions().get().values())
            if (failed.isPresent() && !(failed.get() instanceof ElectionNotNeededException))
                throw new IllegalStateException(failed.get());
    }

    private static List<RecordMetadata> send(KafkaProducer<String, String> producer, JsonNode records) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode each : records) {
            JsonNode partition = each.get("partition");
            JsonNode timestamp = each.get("timestamp");
            ProducerRecord<String, String> record = new ProducerRecord<>(each.get("topic").asText(),
                partition.isNull() ? null : partition.asInt(), timestamp.isNull() ? null : timestamp.asLong(),
                each.get("key").textValue(), each.get("value").textValue());
            for (JsonNode header : each.get("headers"))
                record.headers().add(header.get(0).asText(),
                    header.get(1).isNull() ? null : header.get(1).asText().getBytes(StandardCharsets.UTF_8));
            sent.add(producer.send(record));
        }
        producer.flush();
        List<RecordMetadata> written = new ArrayList<>();
        for (Future<RecordMetadata> each : sent)
            written.add(each.get());
        return written;
    }

    private static void told(ObjectNode answer, List<RecordMetadata> written) {
        ArrayNode records = answer.putArray("written");
        for (RecordMetadata each : written)
            records.addArray().add(each.partition()).add(each.offset());
    }

    private void commit(JsonNode request) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (JsonNode each : request.get("offsets"))
            offsets.put(new TopicPartition(each.get(0).asText(), each.get(1).asInt()),
                new OffsetAndMetadata(each.get(2).asLong()));
        admin.alterConsumerGroupOffsets(request.get("group").asText(), offsets).all().get();
    }

    private void begin(JsonNode request, ObjectNode answer) throws Exception {
        Properties properties = properties(request.get("properties"));
        properties.put("transactional.id", request.get("id").asText());
        KafkaProducer<String, String> transactional =
            new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
        transactional.initTransactions();
        transactional.beginTransaction();
        told(answer, send(transactional, request.get("records")));
        answer.put("client", kept(how -> {
            if (how.equals("commit"))
                transactional.commitTransaction();
            if (how.equals("abort"))
                transactional.abortTransaction();
            transactional.close(how.equals("leave open") ? Duration.ZERO : BRIEFLY);
        }));
    }

    private Client members(JsonNode request) throws Exception {
        String kind = request.get("kind").asText();
        String group = request.get("group").asText();
        List<Member> members = new ArrayList<>();
        int wanted = request.get("members").asInt() + stableMembers(kind, group, true);
        for (int number = 0; number < request.get("members").asInt(); number++) {
            members.add(member(kind, request, number));
            members.get(number).start();
        }
        while (stableMembers(kind, group, false) != wanted)
            Thread.sleep(50);
        return how -> {
            for (Member member : members) {
                member.leave = !how.equals("stay");
                member.ending = true;
            }
            for (Member member : members)
                member.join();
        };
    }

    /** The number of members of a group, or -1 while it is not stable, unless any state will do. */
    private int stableMembers(String kind, String group, boolean anyState) throws Exception {
        try {
            return switch (kind) {
                case "share" -> {
                    var told = admin.describeShareGroups(List.of(group)).describedGroups().get(group).get();
                    yield counted(told.groupState(), told.members(), anyState);
                }
                case "streams" -> {
                    var told = admin.describeStreamsGroups(List.of(group)).describedGroups().get(group).get();
                    yield counted(told.groupState(), told.members(), anyState);
                }
                default -> {
                    var told = admin.describeConsumerGroups(List.of(group)).describedGroups().get(group).get();
                    yield counted(told.groupState(), told.members(), anyState);
                }
            };
        } catch (ExecutionException exception) {
            if (exception.getCause() instanceof GroupIdNotFoundException)
                return anyState ? 0 : -1;
            throw exception;
        }
    }

    private static int counted(GroupState state, Collection<?> members, boolean anyState) {
        return anyState || state == GroupState.STABLE ? members.size() : -1;
    }

    private Member member(String kind, JsonNode request, int number) {
        List<String> topics = JSON.convertValue(request.get("topics"), STRINGS);
        String group = request.get("group").asText();
        Properties properties = properties(null);
        properties.put("group.id", group);
        properties.put("client.id", group + "-" + number);
        if (!kind.equals("share")) {
            properties.put("enable.auto.commit", "false");
            properties.put("auto.offset.reset", "earliest");
            properties.put("group.protocol", kind.equals("classic") ? "classic" : "consumer");
        }
        request.get("properties").properties().forEach(
            each -> properties.put(each.getKey(), each.getValue().asText().replace("{n}", "" + number)));
        return switch (kind) {
            case "share" -> shareMember(properties, topics);
            case "streams" -> streamsMember(properties, topics, JSON.convertValue(request.get("changelogs"), STRINGS));
            default -> {
                Consumer<byte[], byte[]> consumer =
                    new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
                consumer.subscribe(topics);
                yield consumerMember(consumer, request.get("commit").asBoolean());
            }
        };
    }

    private static Member consumerMember(Consumer<byte[], byte[]> consumer, boolean commit) {
        return new Member() {
            @Override
            void poll() {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                if (commit && !records.isEmpty())
                    consumer.commitSync();
            }

            @Override
            void close() {
                consumer.close(CloseOptions.timeout(BRIEFLY).withGroupMembershipOperation(
                    leave ? CloseOptions.GroupMembershipOperation.LEAVE_GROUP
                        : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP));
            }
        };
    }

    private static Member shareMember(Properties properties, List<String> topics) {
        KafkaShareConsumer<byte[], byte[]> consumer =
            new KafkaShareConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(topics);
        return new Member() {
            @Override
            void poll() {
                consumer.poll(POLL);
            }

            @Override
            void close() {
                consumer.close(BRIEFLY);
            }
        };
    }

    /** A member as Kafka Streams has it, with a topology that reads the topics and has a store for each changelog. */
    private static Member streamsMember(Properties properties, List<String> topics, List<String> changelogs) {
        Map<String, StreamsRebalanceData.TopicInfo> stores = new HashMap<>();
        for (String changelog : changelogs)
            stores.put(changelog, new StreamsRebalanceData.TopicInfo(Optional.empty(), Optional.empty(), Map.of()));
        StreamsRebalanceData.Subtopology subtopology =
            new StreamsRebalanceData.Subtopology(Set.copyOf(topics), Set.of(), Map.of(), stores, List.of());
        StreamsRebalanceData data = new StreamsRebalanceData(
            UUID.randomUUID(), Optional.empty(), Optional.empty(), Map.of("0", subtopology), Map.of());
        properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
        properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
        AsyncKafkaConsumer<byte[], byte[]> consumer = new AsyncKafkaConsumer<>(
            new ConsumerConfig(properties), new ByteArrayDeserializer(), new ByteArrayDeserializer(), Optional.of(data));
        consumer.subscribe(topics, new StreamsRebalanceListener() {
            @Override
            public void onTasksRevoked(Set<StreamsRebalanceData.TaskId> tasks) {
            }

            @Override
            public void onTasksAssigned(StreamsRebalanceData.Assignment assignment) {
                data.setReconciledAssignment(assignment);
            }

            @Override
            public void onAllTasksLost() {
                data.setReconciledAssignment(StreamsRebalanceData.Assignment.EMPTY);
            }
        });
        return consumerMember(consumer, false);
    }
}
