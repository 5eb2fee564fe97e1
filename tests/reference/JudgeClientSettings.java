import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

/**
 * Without an argument, prints the name and type of every documented setting of Kafka's clients. With the name of a file
 * of lines in base64, each a value of sasl.jaas.config, prints for each what Kafka reads in it, in base64 too.
 */
public class JudgeClientSettings {
    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            list();
            return;
        }
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            System.out.println(Base64.getEncoder().encodeToString(login(text).getBytes(StandardCharsets.UTF_8)));
        }
    }

    private static void list() {
        Map<String, String> types = new TreeMap<>();
        for (ConfigDef def : List.of(AdminClientConfig.configDef(), ConsumerConfig.configDef(), ProducerConfig.configDef())) {
            for (ConfigDef.ConfigKey key : def.configKeys().values()) {
                if (!key.internalConfig) {
                    types.put(key.name, key.type.name());
                }
            }
        }
        types.forEach((name, type) -> System.out.println(name + " " + type));
    }

    private static String login(String text) {
        try {
            JaasContext context = JaasContext.loadClientContext(Map.of("sasl.jaas.config", new Password(text)));
            AppConfigurationEntry entry = context.configurationEntries().get(0);
            return entry.getLoginModuleName() + " " + new TreeMap<>(entry.getOptions());
        } catch (IllegalArgumentException e) {
            return "";
        }
    }
}
