import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.MessageFormatter;

/**
 * Gives records to message formatters of the console consumer. The first file holds, for each record, the class of the
 * formatter (UTF), the offset (long), the key and the value (an int for the length, -1 for null, and the bytes). The
 * second gets what was written for it, and the message of the error that ended that (or nothing): two byte arrays with
 * their lengths before them.
 */
public class FormatMany {
    public static void main(String[] args) throws Exception {
        Map<String, MessageFormatter> formatters = new HashMap<>();
        try (DataInputStream jobs = new DataInputStream(new BufferedInputStream(new FileInputStream(args[0])));
             DataOutputStream results = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(args[1])))) {
            int count = jobs.readInt();
            for (int i = 0; i < count; i++) {
                String name = jobs.readUTF();
                if (!formatters.containsKey(name)) {
                    formatters.put(name, (MessageFormatter) Class.forName(name).getDeclaredConstructor().newInstance());
                }
                long offset = jobs.readLong();
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                String error = "";
                try (PrintStream stream = new PrintStream(out, false, StandardCharsets.UTF_8)) {
                    ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("t", 0, offset, read(jobs), read(jobs));
                    formatters.get(name).writeTo(record, stream);
                } catch (RuntimeException thrown) {
                    error = thrown.getMessage();
                }
                write(results, out.toByteArray());
                write(results, error.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private static byte[] read(DataInputStream jobs) throws Exception {
        int length = jobs.readInt();
        return length < 0 ? null : jobs.readNBytes(length);
    }

    private static void write(DataOutputStream results, byte[] data) throws Exception {
        results.writeInt(data.length);
        results.write(data);
    }
}
