import java.io.File;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;

import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.LogCleanerManager;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Compacts partition directories with Kafka's own cleaner, many in one JVM. A line of the first file is one round:
 * directory, time, cleaner checkpoint (or -), how many keys the offset map takes, and configs as name=value,
 * separated by tabs. For each the second file gets a line: first dirty offset, first uncleanable offset,
 * clean bytes, cleanable bytes, and the new checkpoint.
 */
public class CleanMany {
    public static void main(String[] args) throws Exception {
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        try (PrintWriter results = new PrintWriter(args[1])) {
            for (String line : Files.readAllLines(Path.of(args[0])))
                results.println(clean(scheduler, line.split("\t")));
        }
        scheduler.shutdown();
    }

    private static String clean(KafkaScheduler scheduler, String[] job) throws Exception {
        Time time = new FixedTime(Long.parseLong(job[1]));
        Properties configs = new Properties();
        for (int i = 4; i < job.length; i++)
            configs.setProperty(job[i].split("=", 2)[0], job[i].split("=", 2)[1]);
        UnifiedLog log = UnifiedLog.create(new File(job[0]), new LogConfig(configs), 0L, 0L, scheduler,
            new BrokerTopicStats(), time, 900000, new ProducerStateManagerConfig(86400000, false), 600000,
            new LogDirFailureChannel(1), true, Optional.empty());
        log.updateHighWatermark(log.logEndOffset());
        log.removeExpiredProducers(time.milliseconds());
        Optional<Long> checkpoint = job[2].equals("-") ? Optional.empty() : Optional.of(Long.valueOf(job[2]));
        LogToClean cleanable = cleanable(log, checkpoint, time.milliseconds());
        SkimpyOffsetMap offsets = new SkimpyOffsetMap(1 << 20);
        double load = (Integer.parseInt(job[3]) + 0.5) / offsets.slots();
        Cleaner cleaner = new Cleaner(0, offsets, 1 << 16, 1 << 24, load,
            new Throttler(1e18, 1000, "cleaner-io", "bytes", time), time, partition -> { });
        long end = cleanable.firstDirtyOffset();
        if (cleanable.cleanableBytes() > 0)
            end = cleaner.doClean(cleanable, time.milliseconds()).getKey();
        String result = cleanable.firstDirtyOffset() + " " + cleanable.firstUncleanableOffset() + " " + cleanable.cleanBytes()
            + " " + cleanable.cleanableBytes() + " " + end;
        log.close();
        return result;
    }

    /** The methods that find the range are not public. */
    private static LogToClean cleanable(UnifiedLog log, Optional<Long> checkpoint, long now) throws Exception {
        Method method = LogCleanerManager.class.getDeclaredMethod("cleanableOffsets", UnifiedLog.class, Optional.class, long.class);
        method.setAccessible(true);
        Object offsets = method.invoke(null, log, checkpoint, now);
        return new LogToClean(log, offset(offsets, "firstDirtyOffset"), offset(offsets, "firstUncleanableDirtyOffset"), false);
    }

    private static long offset(Object offsets, String name) throws Exception {
        Method method = offsets.getClass().getDeclaredMethod(name);
        method.setAccessible(true);
        return (long) method.invoke(offsets);
    }

    private record FixedTime(long milliseconds) implements Time {
        @Override
        public long nanoseconds() {
            return milliseconds * 1000000;
        }

        @Override
        public void sleep(long ms) {
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }
}
