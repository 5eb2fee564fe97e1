import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.Base64;

import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's tools many times in one JVM. A line of the standard input has the class and the arguments of one run,
 * separated by tabs; for each, a line tells what it printed to stdout and to stderr, in base64.
 */
public class GroupToolsMany {
    private static class Exited extends Error {
    }

    public static void main(String[] args) throws Exception {
        PrintStream results = System.out;
        Exit.setExitProcedure((code, message) -> {
            throw new Exited();
        });
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            results.println(run(line.split("\t")));
        results.flush();
        Runtime.getRuntime().halt(0);
    }

    private static String run(String[] line) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true));
        System.setErr(new PrintStream(err, true));
        try {
            Class.forName(line[0]).getMethod("main", String[].class)
                .invoke(null, (Object) Arrays.copyOfRange(line, 1, line.length));
        } catch (InvocationTargetException exception) {
            if (!(exception.getCause() instanceof Exited))
                throw exception;
        }
        return encoded(out) + "," + encoded(err);
    }

    private static String encoded(ByteArrayOutputStream bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
}
