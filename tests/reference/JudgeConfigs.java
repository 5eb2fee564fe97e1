import java.io.BufferedWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import kafka.admin.ConfigCommand;
import kafka.server.ConfigHelper;
import kafka.server.KafkaConfig;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.message.DescribeConfigsRequestData.DescribeConfigsResource;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResourceResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsSynonym;
import org.apache.kafka.common.requests.DescribeConfigsResponse;
import org.apache.kafka.common.security.scram.internals.ScramFormatter;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.metadata.ConfigRepository;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.DynamicConfig;
import org.apache.kafka.server.config.QuotaConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Asks Kafka about its configs, many questions in one JVM. Each line of the first file is a question as JSON; the
 * second file gets a line of JSON for each: {"value": answer} or {"error": simple name of the exception, "message": text}.
 */
public class JudgeConfigs {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, ConfigDef> DEFINITIONS = Map.of(
        "topic", LogConfig.configDefCopy(),
        "broker", AbstractKafkaConfig.CONFIG_DEF,
        "group", GroupConfig.CONFIG_DEF,
        "client_metrics", ClientMetricsConfigs.configDef(),
        "broker_quota", QuotaConfig.brokerQuotaConfigs(),
        "client_quota", QuotaConfig.userAndClientQuotaConfigs(),
        "ip_quota", QuotaConfig.ipConfigs());
    private static final Map<Byte, ConfigEntry.ConfigSource> SOURCES = sources();

    public static void main(String[] args) throws Exception {
        try (BufferedWriter results = Files.newBufferedWriter(Path.of(args[1]))) {
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                results.write(JSON.writeValueAsString(result(JSON.readTree(line))));
                results.newLine();
            }
        }
    }

    private static Map<String, Object> result(JsonNode question) {
        Map<String, Object> result = new LinkedHashMap<>();
        try {
            result.put("value", answer(question));
        } catch (Throwable thrown) {
            Throwable cause = thrown instanceof InvocationTargetException ? thrown.getCause() : thrown;
            result.put("error", cause.getClass().getSimpleName());
            result.put("message", cause.getMessage());
        }
        return result;
    }

    private static Object answer(JsonNode question) throws Exception {
        Map<String, String> configs = strings(question.path("configs"));
        switch (question.get("ask").asText()) {
            case "definition":
                return definition(DEFINITIONS.get(question.get("of").asText()));
            case "update modes":
                return DynamicBrokerConfig.dynamicConfigUpdateModes();
            case "dynamic names":
                return DynamicConfig.Broker.names();
            case "topic synonyms":
                return ServerTopicConfigSynonyms.TOPIC_CONFIG_SYNONYMS;
            case "group synonyms":
                return groupSynonyms();
            case "value":
                return value(question);
            case "topic":
                KafkaConfig server = server(question);
                LogConfig.validate(strings(question.path("existing")), configs, server.extractLogConfigMap(),
                    server.remoteLogManagerConfig().isRemoteStorageSystemEnabled());
                return null;
            case "broker":
                Properties properties = new Properties();
                properties.putAll(configs);
                server(question).dynamicConfig().validate(properties, question.get("perBroker").asBoolean());
                return null;
            case "group":
                KafkaConfig coordinator = server(question);
                GroupConfig.validate(configs, coordinator.groupCoordinatorConfig(), coordinator.shareGroupConfig());
                return null;
            case "client metrics":
                ClientMetricsConfigs.validate(question.get("name").asText(), configs);
                return null;
            case "quota":
                return quota(question);
            case "scram":
                return scram(question);
            case "add-config":
                return new TreeMap<>(ConfigCommand.parseConfigsToBeAdded(options(question)));
            case "alter":
                ConfigCommand.alterConfig(clusterThatIsAsked(), options(question));
                return null;
            case "describe":
                return describe(question);
            default:
                throw new IllegalStateException(question.toString());
        }
    }

    private static List<List<Object>> definition(ConfigDef definition) {
        List<List<Object>> rows = new ArrayList<>();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            List<Object> row = new ArrayList<>();
            row.add(key.name);
            row.add(key.type.toString());
            row.add(key.hasDefault());
            row.add(key.hasDefault() ? plain(ConfigDef.convertToString(key.defaultValue, key.type), key) : null);
            row.add(key.validator == null ? null : key.validator.toString());
            row.add(key.importance.toString());
            row.add(key.internalConfig);
            rows.add(row);
        }
        return rows;
    }

    private static String plain(String text, ConfigDef.ConfigKey key) {
        return key.defaultValue instanceof Password ? ((Password) key.defaultValue).value() : text;
    }

    private static Map<String, String> groupSynonyms() {
        Map<String, String> synonyms = new TreeMap<>();
        GroupConfig.ALL_GROUP_CONFIG_SYNONYMS.forEach((name, synonym) -> synonyms.put(name, synonym.orElse(null)));
        return synonyms;
    }

    private static String value(JsonNode question) throws Exception {
        ConfigDef.ConfigKey key = DEFINITIONS.get(question.get("of").asText()).configKeys().get(question.get("name").asText());
        Method parse = ConfigDef.class.getDeclaredMethod("parseValue", ConfigDef.ConfigKey.class, Object.class, boolean.class);
        parse.setAccessible(true);
        Object parsed = parse.invoke(new ConfigDef(), key, question.get("value").asText(), true);
        return ConfigDef.convertToString(parsed, key.type);
    }

    private static String quota(JsonNode question) throws Exception {
        Class<?> manager = Class.forName("org.apache.kafka.controller.ClientQuotaControlManager");
        Method validate = manager.getDeclaredMethod("validateQuotaKeyValue", Map.class, String.class, double.class);
        validate.setAccessible(true);
        ConfigDef definition = DEFINITIONS.get(question.get("of").asText());
        Object error = validate.invoke(null, definition.configKeys(), question.get("name").asText(),
            Double.parseDouble(question.get("value").asText()));
        return (String) error.getClass().getMethod("message").invoke(error);
    }

    private static List<String> scram(JsonNode question) throws Exception {
        ScramFormatter formatter = new ScramFormatter(ScramMechanism.forMechanismName(question.get("mechanism").asText()));
        byte[] salt = HexFormat.of().parseHex(question.get("salt").asText());
        byte[] salted = formatter.saltedPassword(question.get("password").asText(), salt, question.get("iterations").asInt());
        return List.of(
            HexFormat.of().formatHex(formatter.storedKey(formatter.clientKey(salted))),
            HexFormat.of().formatHex(formatter.serverKey(salted)));
    }

    private static ConfigCommand.ConfigCommandOptions options(JsonNode question) {
        List<String> args = new ArrayList<>();
        question.get("args").forEach(arg -> args.add(arg.asText()));
        return new ConfigCommand.ConfigCommandOptions(args.toArray(new String[0]));
    }

    /** For what ConfigCommand finds out before it asks a cluster. */
    private static Admin clusterThatIsAsked() {
        return (Admin) Proxy.newProxyInstance(JudgeConfigs.class.getClassLoader(), new Class<?>[] {Admin.class},
            (proxy, method, args) -> {
                throw new IllegalStateException("asked");
            });
    }

    /** Entries in the order in which an admin client has them; synonyms as source, name and value. */
    private static List<List<Object>> describe(JsonNode question) {
        KafkaConfig server = server(question);
        MetadataCache cache = (MetadataCache) Proxy.newProxyInstance(JudgeConfigs.class.getClassLoader(),
            new Class<?>[] {MetadataCache.class}, (proxy, method, args) -> method.getReturnType() == boolean.class ? true : null);
        Properties own = properties(question.path("configs"));
        ConfigRepository repository = resource -> own;
        DescribeConfigsResource resource = new DescribeConfigsResource()
            .setResourceType(ConfigResource.Type.valueOf(question.get("type").asText()).id())
            .setResourceName(question.get("name").asText());
        scala.collection.immutable.List<DescribeConfigsResource> resources =
            scala.jdk.javaapi.CollectionConverters.asScala(List.of(resource)).toList();
        DescribeConfigsResult described = new ConfigHelper(cache, server, repository).describeConfigs(resources, true, false).head();
        if (described.errorCode() != 0)
            throw new IllegalStateException(described.errorCode() + " " + described.errorMessage());
        Map<String, DescribeConfigsResourceResult> byName = new LinkedHashMap<>();
        List<ConfigEntry> entries = new ArrayList<>();
        for (DescribeConfigsResourceResult entry : described.configs()) {
            byName.put(entry.name(), entry);
            entries.add(new ConfigEntry(entry.name(), entry.value()));
        }
        List<List<Object>> rows = new ArrayList<>();
        for (ConfigEntry entry : new Config(entries).entries())
            rows.add(row(byName.get(entry.name())));
        return rows;
    }

    private static List<Object> row(DescribeConfigsResourceResult entry) {
        List<List<String>> synonyms = new ArrayList<>();
        for (DescribeConfigsSynonym synonym : entry.synonyms()) {
            List<String> one = new ArrayList<>();
            one.add(SOURCES.get(synonym.source()).toString());
            one.add(synonym.name());
            one.add(synonym.value());
            synonyms.add(one);
        }
        List<Object> row = new ArrayList<>();
        row.add(entry.name());
        row.add(entry.value());
        row.add(entry.isSensitive());
        row.add(entry.readOnly());
        row.add(SOURCES.get(entry.configSource()).toString());
        row.add(synonyms);
        return row;
    }

    private static KafkaConfig server(JsonNode question) {
        Properties properties = properties(question.path("static"));
        properties.putIfAbsent("process.roles", "broker,controller");
        properties.putIfAbsent("node.id", "1");
        properties.putIfAbsent("controller.listener.names", "CONTROLLER");
        properties.putIfAbsent("listeners", "PLAINTEXT://:9092,CONTROLLER://:9093");
        properties.putIfAbsent("controller.quorum.voters", "1@localhost:9093");
        KafkaConfig config = KafkaConfig.fromProps(properties, false);
        config.dynamicConfig().initialize(scala.Option.empty());
        config.dynamicConfig().updateDefaultConfig(properties(question.path("cluster")), false);
        config.dynamicConfig().updateBrokerConfig(1, properties(question.path("broker")), false);
        return config;
    }

    private static Map<Byte, ConfigEntry.ConfigSource> sources() {
        Map<Byte, ConfigEntry.ConfigSource> sources = new TreeMap<>();
        for (DescribeConfigsResponse.ConfigSource source : DescribeConfigsResponse.ConfigSource.values())
            sources.put(source.id(), source.source());
        return sources;
    }

    private static Map<String, String> strings(JsonNode object) {
        Map<String, String> strings = new LinkedHashMap<>();
        object.fields().forEachRemaining(field -> strings.put(field.getKey(), field.getValue().asText()));
        return strings;
    }

    private static Properties properties(JsonNode object) {
        Properties properties = new Properties();
        properties.putAll(strings(object));
        return properties;
    }
}
