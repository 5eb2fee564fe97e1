import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's tools, one after another, in a JVM that stays. A line of the standard input is a request in JSON, with
 * the class, the arguments and what the tool reads from its standard input; a line of the standard output answers it
 * with the exit code and what the tool printed, in base64.
 *
 * A tool that exits is stopped by an error. Some catch it and print about it, so what a tool prints after it has exited
 * is dropped. Where the JVM ends in the middle of a run (the tool ends it by itself, or the run took too long and the
 * JVM was told to end), the answer has no code, and what was printed so far.
 */
public class ToolServer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> CLIENT_THREADS = List.of(
        "kafka-admin-client-thread", "kafka-producer-network-thread", "kafka-coordinator-heartbeat-thread",
        "consumer_background_thread");
    private static volatile Run current;

    private static class Exited extends Error {
    }

    private static class Run {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final ByteArrayOutputStream err = new ByteArrayOutputStream();
        private final InputStream in;
        private final List<Runnable> shutdownHooks = new ArrayList<>();
        private Integer code;

        Run(String stdin) {
            in = new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8));
        }

        synchronized void write(ByteArrayOutputStream stream, byte[] bytes, int from, int length) {
            if (code == null)
                stream.write(bytes, from, length);
        }

        synchronized void exit(int status) {
            if (code == null)
                code = status;
        }

        synchronized String answer() throws Exception {
            return JSON.createObjectNode().put("code", code)
                .put("out", out.toByteArray()).put("err", err.toByteArray()).toString();
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        // once: Scala's Console keeps the streams that it finds at its first use
        System.setOut(captured(run -> run.out));
        System.setErr(captured(run -> run.err));
        System.setIn(fed());
        Exit.setExitProcedure((code, message) -> exit(code));
        Exit.setHaltProcedure((code, message) -> exit(code));
        Exit.setShutdownHookAdder((name, hook) -> current.shutdownHooks.add(hook));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> answer(answers)));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = JSON.readTree(line);
            current = new Run(request.get("stdin").asText());
            run(request.get("tool").asText(), JSON.convertValue(request.get("args"), String[].class));
            answer(answers);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void exit(int code) {
        current.exit(code);
        throw new Exited();
    }

    private static synchronized void answer(PrintStream answers) {
        if (current == null)
            return;
        try {
            answers.println(current.answer());
            answers.flush();
            current = null;
        } catch (Exception exception) {
            throw new IllegalStateException(exception);
        }
    }

    private static void run(String tool, String[] args) throws Exception {
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException exception) {
            if (!(exception.getCause() instanceof Exited))
                printAsTheJvmDoes(tool, exception.getCause());
        }
        // ConsoleProducer sends what it has read when it is shut down
        for (Runnable hook : current.shutdownHooks)
            hook.run();
        current.exit(0);
        endClients();
    }

    /**
     * A tool that fails leaves its clients to the end of its JVM. Here they would ask brokers, also those that are gone,
     * for the rest of the tests.
     */
    @SuppressWarnings({"deprecation", "removal"})
    private static void endClients() {
        for (Thread thread : Thread.getAllStackTraces().keySet())
            if (CLIENT_THREADS.stream().anyMatch(thread.getName()::startsWith))
                try {
                    thread.stop();
                } catch (UnsupportedOperationException exception) {
                    return; // of a Java that has no such thing any more
                }
    }

    private static void printAsTheJvmDoes(String tool, Throwable thrown) {
        StackTraceElement[] trace = thrown.getStackTrace();
        int end = trace.length;
        while (end > 0 && !(trace[end - 1].getClassName().equals(tool) && trace[end - 1].getMethodName().equals("main")))
            end--;
        if (end > 0)
            thrown.setStackTrace(Arrays.copyOf(trace, end));
        System.err.print("Exception in thread \"main\" ");
        thrown.printStackTrace();
        current.exit(1);
    }

    private static PrintStream captured(Function<Run, ByteArrayOutputStream> stream) {
        return new PrintStream(new OutputStream() {
            @Override
            public void write(int single) {
                write(new byte[] {(byte) single}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) {
                Run run = current;
                if (run != null)
                    run.write(stream.apply(run), bytes, from, length);
            }
        }, true, StandardCharsets.UTF_8);
    }

    private static InputStream fed() {
        return new InputStream() {
            @Override
            public int read() throws java.io.IOException {
                return current.in.read();
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws java.io.IOException {
                return current.in.read(bytes, from, length);
            }
        };
    }
}
