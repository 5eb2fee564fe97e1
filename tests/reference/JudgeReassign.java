import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.utils.Exit;

/**
 * Asks Kafka's ReassignPartitionsCommand about files and options, many questions in one JVM. Each line of the first file
 * is a question as JSON; the second file gets a line of JSON for each: {"value": answer} or {"error": simple name of the
 * exception, "message": text}.
 */
public class JudgeReassign {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Class<?> COMMAND = command();

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((code, message) -> {
            throw new IllegalStateException(message);
        });
        List<String> answers = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            Map<String, Object> answer = new LinkedHashMap<>();
            try {
                answer.put("value", answer(JSON.readTree(line)));
            } catch (InvocationTargetException thrown) {
                Throwable cause = thrown.getCause();
                answer.put("error", cause.getClass().getSimpleName());
                answer.put("message", cause.getMessage());
            }
            answers.add(JSON.writeValueAsString(answer));
        }
        Files.write(Path.of(args[1]), answers);
    }

    private static Object answer(JsonNode question) throws Exception {
        return switch (question.get("ask").asText()) {
            case "execute" -> execute(question.get("data").asText());
            case "generate" -> plain(call("parseGenerateAssignmentArgs",
                question.get("data").asText(), question.get("brokers").asText()));
            default -> {
                call("validateAndParseArgs", (Object) JSON.convertValue(question.get("args"), String[].class));
                yield "accepted";
            }
        };
    }

    /** What the file says, as the file that Kafka would write of it. */
    @SuppressWarnings("unchecked")
    private static Object execute(String data) throws Exception {
        var found = (Map.Entry<Map<TopicPartition, List<Integer>>, Map<TopicPartitionReplica, String>>)
            call("parseExecuteAssignmentArgs", data);
        return call("formatAsReassignmentJson", found.getKey(), found.getValue());
    }

    private static Object plain(Object value) {
        Map.Entry<?, ?> entry = (Map.Entry<?, ?>) value;
        return List.of(List.copyOf((Collection<?>) entry.getKey()), List.copyOf((Collection<?>) entry.getValue()));
    }

    private static Object call(String name, Object... arguments) throws Exception {
        for (Method method : COMMAND.getDeclaredMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                method.setAccessible(true);
                return method.invoke(null, arguments);
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static Class<?> command() {
        try {
            return Class.forName("org.apache.kafka.tools.reassign.ReassignPartitionsCommand");
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
