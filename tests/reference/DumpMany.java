import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.apache.kafka.tools.DumpLogSegments;

/**
 * Runs DumpLogSegments many times in one JVM. Each line of the first file holds the arguments of one run, separated by
 * tabs. For each run the second file gets what was printed to stdout, to stderr, and the error that ended it (or
 * nothing): three byte arrays with their lengths before them.
 */
public class DumpMany {
    public static void main(String[] args) throws Exception {
        PrintStream stdout = System.out;
        PrintStream stderr = System.err;
        try (DataOutputStream results = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(args[1])))) {
            for (String line : Files.readAllLines(Path.of(args[0]))) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                ByteArrayOutputStream err = new ByteArrayOutputStream();
                String error = "";
                System.setOut(new PrintStream(out, false, StandardCharsets.UTF_8));
                System.setErr(new PrintStream(err, false, StandardCharsets.UTF_8));
                try {
                    DumpLogSegments.main(line.split("\t"));
                } catch (Throwable thrown) {
                    error = thrown.toString();
                }
                System.out.flush();
                System.err.flush();
                write(results, out.toByteArray());
                write(results, err.toByteArray());
                write(results, error.getBytes(StandardCharsets.UTF_8));
            }
        } finally {
            System.setOut(stdout);
            System.setErr(stderr);
        }
    }

    private static void write(DataOutputStream results, byte[] data) throws Exception {
        results.writeInt(data.length);
        results.write(data);
    }
}
