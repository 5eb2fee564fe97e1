import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs LeaderElectionCommand once for each line of arguments (a JSON list), and writes what it printed and returned. */
public class ElectMany {
    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        Method run = Class.forName("org.apache.kafka.tools.LeaderElectionCommand")
            .getDeclaredMethod("mainNoExit", String[].class);
        run.setAccessible(true);
        List<String> answers = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            PrintStream stdout = System.out;
            PrintStream stderr = System.err;
            System.setOut(new PrintStream(out, true));
            System.setErr(new PrintStream(err, true));
            Object code;
            try {
                code = run.invoke(null, (Object) json.readValue(line, String[].class));
            } finally {
                System.setOut(stdout);
                System.setErr(stderr);
            }
            answers.add(json.writeValueAsString(Map.of("code", code, "out", out.toString(), "err", err.toString())));
        }
        Files.write(Path.of(args[1]), answers);
    }
}
