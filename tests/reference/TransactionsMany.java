import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Base64;

import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.TransactionsCommand;

/**
 * Runs Kafka's TransactionsCommand many times in one JVM. A line of the standard input has the arguments of one run,
 * separated by tabs; for each, a line tells the exit code, and stdout and stderr in base64.
 */
public class TransactionsMany {
    private static class Exited extends RuntimeException {
        private final int code;

        private Exited(int code) {
            this.code = code;
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream results = System.out;
        Exit.setExitProcedure((code, message) -> {
            throw new Exited(code);
        });
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            results.println(run(line.split("\t")));
        results.flush();
        Runtime.getRuntime().halt(0);
    }

    private static String run(String[] args) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true));
        System.setErr(new PrintStream(err, true));
        int code = 0;
        try {
            TransactionsCommand.main(args);
        } catch (Exited exited) {
            code = exited.code;
        }
        return code + "," + encoded(out) + "," + encoded(err);
    }

    private static String encoded(ByteArrayOutputStream bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }
}
