package org.apache.kafka.controller;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsResponseData;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.BrokerRegistrationChangeRecord;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.Replicas;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.EligibleLeaderReplicasVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Plays brokers that stop, crash and come back, elections, changes of ISRs and of replicas on Kafka's own
 * ReplicationControlManager, many stories in one JVM. Each line of the first file is a story as JSON: topics with their
 * brokers, perhaps more brokers, configs, whether eligible leader replicas are on, and events; the second file gets a line for each, with the partitions after every
 * event. It stands in Kafka's package because the managers are visible only there.
 */
public class JudgeController {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final SnapshotRegistry registry = new SnapshotRegistry(new LogContext());
    private final FeatureControlManager features;
    private final ConfigurationControlManager configs;
    private final ClusterControlManager cluster;
    private final ReplicationControlManager replication;
    private final Map<String, Uuid> topics = new LinkedHashMap<>();
    private final Map<Integer, Boolean> leftClean = new HashMap<>();
    private long offset = 100;

    public static void main(String[] args) throws Exception {
        List<String> answers = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            JsonNode story = JSON.readTree(line);
            JudgeController judge = new JudgeController(story);
            List<Object> states = new ArrayList<>();
            for (JsonNode event : story.get("events")) {
                String error = judge.play(event);
                states.add(Map.of("error", error, "partitions", judge.partitions()));
            }
            answers.add(JSON.writeValueAsString(states));
        }
        Files.write(Path.of(args[1]), answers);
    }

    private JudgeController(JsonNode story) {
        features = new FeatureControlManager.Builder().setSnapshotRegistry(registry).setQuorumFeatures(
            new QuorumFeatures(0, Map.of(
                MetadataVersion.FEATURE_NAME, VersionRange.of(
                    MetadataVersion.MINIMUM_VERSION.featureLevel(), MetadataVersion.latestProduction().featureLevel()),
                EligibleLeaderReplicasVersion.FEATURE_NAME, VersionRange.of((short) 0, (short) 1)), List.of(0))).build();
        configs = new ConfigurationControlManager.Builder().setSnapshotRegistry(registry).setFeatureControl(features)
            .setKafkaConfigSchema(schema()).build();
        cluster = new ClusterControlManager.Builder().setSnapshotRegistry(registry).setFeatureControlManager(features)
            .setBrokerShutdownHandler((broker, isClean, records) -> { }).build();
        replication = new ReplicationControlManager.Builder().setSnapshotRegistry(registry).setFeatureControl(features)
            .setConfigurationControl(configs).setClusterControl(cluster).build();
        replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME)
            .setFeatureLevel(MetadataVersion.latestProduction().featureLevel()));
        replay(new FeatureLevelRecord().setName(EligibleLeaderReplicasVersion.FEATURE_NAME)
            .setFeatureLevel((short) (story.get("elr").asBoolean() ? 1 : 0)));
        cluster.activate();
        ints(story.path("brokers")).forEach(broker -> register(broker, false));
        story.get("topics").properties().forEach(each -> create(each.getKey(), ints(each.getValue()), story));
    }

    private static KafkaConfigSchema schema() {
        ConfigDef topic = new ConfigDef()
            .define("min.insync.replicas", ConfigDef.Type.INT, 1, ConfigDef.Importance.LOW, "")
            .define("unclean.leader.election.enable", ConfigDef.Type.BOOLEAN, false, ConfigDef.Importance.LOW, "");
        Map<String, List<ConfigSynonym>> synonyms = new HashMap<>();
        topic.names().forEach(name -> synonyms.put(name, List.of(new ConfigSynonym(name))));
        return new KafkaConfigSchema(
            Map.of(ConfigResource.Type.TOPIC, topic, ConfigResource.Type.BROKER, topic), synonyms);
    }

    private void create(String topic, List<Integer> brokers, JsonNode story) {
        for (int broker : brokers) {
            if (!cluster.brokerRegistrations().containsKey(broker)) {
                register(broker, false);
            }
        }
        Uuid id = Uuid.randomUuid();
        topics.put(topic, id);
        story.get("configs").properties().forEach(each -> replay(new ConfigRecord().setResourceType(
            ConfigResource.Type.TOPIC.id()).setResourceName(topic).setName(each.getKey())
            .setValue(each.getValue().asText())));
        replay(new TopicRecord().setName(topic).setTopicId(id));
        replay(new PartitionRecord().setTopicId(id).setPartitionId(0).setReplicas(brokers).setIsr(brokers)
            .setLeader(brokers.get(0)).setLeaderEpoch(0).setPartitionEpoch(0)
            .setDirectories(brokers.stream().map(broker -> new Uuid(1, broker)).toList()));
    }

    private void register(int broker, boolean fenced) {
        replay(new RegisterBrokerRecord().setBrokerId(broker).setBrokerEpoch(offset).setFenced(fenced)
            .setIncarnationId(Uuid.randomUuid()).setLogDirs(List.of(new Uuid(1, broker))));
    }

    private String play(JsonNode event) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        switch (event.get(0).asText()) {
            case "stop" -> stop(event.get(1).asInt());
            case "kill" -> {
                leftClean.put(event.get(1).asInt(), false);
                replication.handleBrokerFenced(event.get(1).asInt(), records);
            }
            case "start" -> start(event.get(1).asInt());
            case "elect" -> {
                Errors error = replication.electLeader(event.get(1).asText(), 0,
                    ElectionType.valueOf(event.get(2).asText()), records).error();
                if (error != Errors.NONE) {
                    return error.exception().getClass().getSimpleName();
                }
            }
            case "reassign" -> {
                return reassign(event.get(1).asText(), ints(event.get(2)));
            }
            default -> {
                return alter(event.get(1).asText(), ints(event.get(2)));
            }
        }
        replayAll(records);
        return "";
    }

    private void stop(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        leftClean.put(broker, true);
        replication.handleBrokerInControlledShutdown(broker, epoch(broker), records);
        replayAll(records);
        records.clear();
        replication.handleBrokerFenced(broker, records);
        replayAll(records);
    }

    /** As ClusterControlManager does for a new incarnation, which then is unfenced when it has caught up. */
    private void start(int broker) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        replication.handleBrokerShutdown(broker, leftClean.get(broker), records);
        replayAll(records);
        register(broker, true);
        records.clear();
        replication.handleBrokerUnfenced(broker, epoch(broker), records);
        replayAll(records);
    }

    /** What the leader asks for. */
    private String alter(String topic, List<Integer> isr) {
        PartitionRegistration partition = replication.getPartition(topics.get(topic), 0);
        AlterPartitionRequestData.PartitionData wanted = new AlterPartitionRequestData.PartitionData()
            .setPartitionIndex(0).setLeaderEpoch(partition.leaderEpoch).setPartitionEpoch(partition.partitionEpoch)
            .setNewIsrWithEpochs(isr.stream().map(broker -> new AlterPartitionRequestData.BrokerState()
                .setBrokerId(broker).setBrokerEpoch(epoch(broker))).toList());
        AlterPartitionRequestData request = new AlterPartitionRequestData().setBrokerId(partition.leader)
            .setBrokerEpoch(epoch(partition.leader)).setTopics(List.of(new AlterPartitionRequestData.TopicData()
                .setTopicId(topics.get(topic)).setPartitions(List.of(wanted))));
        ControllerResult<AlterPartitionResponseData> result = replication.alterPartition(new ControllerRequestContext(
            new RequestHeaderData().setRequestApiVersion((short) 3), KafkaPrincipal.ANONYMOUS, OptionalLong.empty()),
            request);
        Errors error = Errors.forCode(result.response().topics().get(0).partitions().get(0).errorCode());
        replayAll(result.records());
        return error == Errors.NONE ? "" : error.exception().getClass().getSimpleName();
    }

    private String reassign(String topic, List<Integer> replicas) {
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData().setTopics(List.of(
            new AlterPartitionReassignmentsRequestData.ReassignableTopic().setName(topic).setPartitions(List.of(
                new AlterPartitionReassignmentsRequestData.ReassignablePartition().setPartitionIndex(0)
                    .setReplicas(replicas)))));
        ControllerResult<AlterPartitionReassignmentsResponseData> result =
            replication.alterPartitionReassignments(request);
        Errors error = Errors.forCode(result.response().responses().get(0).partitions().get(0).errorCode());
        replayAll(result.records());
        return error == Errors.NONE ? "" : error.exception().getClass().getSimpleName();
    }

    private Map<String, Object> partitions() {
        Map<String, Object> found = new LinkedHashMap<>();
        topics.forEach((name, id) -> {
            PartitionRegistration partition = replication.getPartition(id, 0);
            found.put(name, List.of(partition.leader, partition.leaderEpoch, Replicas.toList(partition.isr),
                Replicas.toList(partition.elr), Replicas.toList(partition.replicas),
                Replicas.toList(partition.removingReplicas), Replicas.toList(partition.addingReplicas)));
        });
        return found;
    }

    private long epoch(int broker) {
        return cluster.brokerRegistrations().get(broker).epoch();
    }

    private void replayAll(List<ApiMessageAndVersion> records) {
        records.forEach(record -> replay(record.message()));
    }

    private void replay(ApiMessage record) {
        offset++;
        if (record instanceof RegisterBrokerRecord each) {
            cluster.replay(each, offset);
        } else if (record instanceof BrokerRegistrationChangeRecord each) {
            cluster.replay(each);
        } else if (record instanceof TopicRecord each) {
            replication.replay(each);
        } else if (record instanceof PartitionRecord each) {
            replication.replay(each);
        } else if (record instanceof PartitionChangeRecord each) {
            replication.replay(each);
        } else if (record instanceof ConfigRecord each) {
            configs.replay(each);
        } else if (record instanceof FeatureLevelRecord each) {
            features.replay(each);
        } else {
            throw new IllegalStateException("what is " + record);
        }
    }

    private static List<Integer> ints(JsonNode node) {
        List<Integer> found = new ArrayList<>();
        node.forEach(each -> found.add(each.asInt()));
        return found;
    }
}
