import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.tools.consumer.group.ConsumerGroupCommand;

/**
 * Runs ConsumerGroupCommand many times in one JVM, and asks the readers of its values. Each line of the first file is a
 * question as JSON; the second file gets a line of JSON for each: {"out", "err", "exit"} of the tool, {"value"} or
 * {"error": message} of a reader.
 */
public class JudgeConsumerGroups {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static class Exited extends Error {
    }

    public static void main(String[] args) throws Exception {
        try (BufferedWriter results = Files.newBufferedWriter(Path.of(args[1]))) {
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                JsonNode question = JSON.readTree(line);
                Map<String, Object> result = question.has("args") ? run(question.get("args")) : read(question);
                results.write(JSON.writeValueAsString(result));
                results.newLine();
            }
        }
        System.exit(0);
    }

    /** After the tool has asked to exit it prints no more: in a process of its own it would be gone. */
    private static Map<String, Object> run(JsonNode args) {
        String[] words = JSON.convertValue(args, String[].class);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream realOut = System.out;
        PrintStream realErr = System.err;
        int[] exit = {0};
        Exit.setExitProcedure((code, message) -> {
            exit[0] = code;
            System.out.flush();
            System.err.flush();
            System.setOut(new PrintStream(OutputStream.nullOutputStream()));
            System.setErr(new PrintStream(OutputStream.nullOutputStream()));
            throw new Exited();
        });
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            ConsumerGroupCommand.main(words);
        } catch (Exited exited) {
            // as a process would end
        } catch (Throwable thrown) {
            exit[0] = 1;
            System.err.println(thrown.getMessage());
        } finally {
            System.setOut(realOut);
            System.setErr(realErr);
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("out", out.toString(StandardCharsets.UTF_8));
        result.put("err", err.toString(StandardCharsets.UTF_8));
        result.put("exit", exit[0]);
        return result;
    }

    private static Map<String, Object> read(JsonNode question) {
        String text = question.get("text").asText();
        try {
            return Map.of("value", switch (question.get("read").asText()) {
                case "datetime" -> String.valueOf(Utils.getDateTime(text));
                case "duration" -> nanoseconds(Duration.parse(text));
                default -> String.valueOf(Pattern.compile(text) != null);
            });
        } catch (PatternSyntaxException refused) {
            return Map.of("error", refused.getDescription());
        } catch (Exception refused) {
            return Map.of("error", refused.getMessage());
        }
    }

    private static String nanoseconds(Duration duration) {
        return duration.getSeconds() + " " + duration.getNano();
    }
}
