import java.io.ByteArrayOutputStream;
import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import kafka.log.Cleaner; // 3.9
import kafka.log.LogToClean; // 3.9
import kafka.log.UnifiedLog; // 3.9
import kafka.server.BrokerTopicStats; // 3.9
import org.apache.kafka.common.message.AbortedTxn; // 4.4
import org.apache.kafka.common.network.TransferableChannel;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.LazyDownConversionRecords; // 3.9
import org.apache.kafka.common.record.internal.LazyDownConversionRecordsSend; // 3.9
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.common.MetadataVersion; // 3.9
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.common.RequestLocal; // 4.4
import org.apache.kafka.server.storage.log.FetchIsolation; // 4.4
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.AbortedTxn; // 3.9
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.Cleaner; // 4.4
import org.apache.kafka.storage.internals.log.FetchIsolation; // 3.9
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.LogToClean; // 4.4
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog; // 4.4
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.internals.utils.Throttler;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats; // 4.4

/**
 * Kafka's UnifiedLog behind a line protocol: one request a line on stdin, one answer a line on
 * stdout, columns separated by tabs. Lines that end with a release are left out for other releases,
 * and classes lie where 4.3 has them; tests/helpers/release_tool.py rewrites the
 * source, and says which folder has the logs.
 *
 * <pre>
 * new       configs (name=value;...)              a new log t-0; the time is 0
 * now       ms
 * append    hex  leader-epoch                     first, last, append time, log start
 * marker    producer  epoch  commit  coordinator-epoch  leader-epoch  transaction-version
 * read      offset  max-bytes  END, HIGH or COMMITTED  ->  hex
 * old       magic  offset  max-bytes               what a Fetch of that magic answers, in hex (3.9)
 * before    ms  count                             what ListOffsets 0 answers (3.9)
 * high      offset
 * time      ms                                    offset, timestamp, epoch, or nothing
 * epoch-end epoch                                 epoch, end offset
 * epoch     epoch                                 assigned at the end
 * aborted   from  end
 * delete    offset
 * truncate  offset
 * retention
 * expire
 * compact
 * state
 * </pre>
 * What fails is answered by: err, error code, message, record errors.
 */
public final class PartitionLogs {
    private static final HexFormat HEX = HexFormat.of();
    private static UnifiedLog log;
    private static File folder;
    private static long cleanedTo;

    private static final Clock TIME = new Clock();

    private static final ScheduledFuture<?> NEVER = never();

    private static final Scheduler SCHEDULER = new Scheduler() {
        public void startup() {
        }

        public void shutdown() {
        }

        public ScheduledFuture<?> schedule(String name, Runnable task, long delay, long period) {
            return NEVER;
        }

        public void resizeThreadPool(int size) {
        }
    };

    private static ScheduledFuture<?> never() {
        ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        return pool.schedule(() -> { }, 1000, TimeUnit.DAYS);
    }

    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(line.split("\t", -1)));
    }

    private static String answer(String[] columns) {
        try {
            return "ok\t" + done(columns);
        } catch (RecordValidationException refused) {
            String errors = refused.recordErrors().stream()
                .map(each -> each.batchIndex + "=" + each.message).collect(Collectors.joining("|"));
            Throwable cause = refused.invalidException();
            return "err\t" + Errors.forException(cause).code() + "\t" + cause.getMessage() + "\t" + errors;
        } catch (Throwable refused) {
            return "err\t" + Errors.forException(refused).code() + "\t"
                + String.valueOf(refused.getMessage()).replace('\n', ' ') + "\t";
        }
    }

    private static String done(String[] columns) throws Exception {
        switch (columns[0]) {
            case "new":
                return created(columns[1]);
            case "now":
                TIME.now = Long.parseLong(columns[1]);
                return "";
            case "append":
                MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(HEX.parseHex(columns[1])));
                return appended(records, Integer.parseInt(columns[2]), AppendOrigin.CLIENT, (short) 0);
            case "marker":
                ControlRecordType type = columns[3].equals("1") ? ControlRecordType.COMMIT : ControlRecordType.ABORT;
                MemoryRecords marker = MemoryRecords.withEndTransactionMarker(TIME.now, Long.parseLong(columns[1]),
                    Short.parseShort(columns[2]), new EndTransactionMarker(type, Integer.parseInt(columns[4])));
                return appended(marker, Integer.parseInt(columns[5]), AppendOrigin.COORDINATOR,
                    Short.parseShort(columns[6]));
            case "read":
                FetchIsolation isolation = columns[3].equals("END") ? FetchIsolation.LOG_END
                    : columns[3].equals("HIGH") ? FetchIsolation.HIGH_WATERMARK : FetchIsolation.TXN_COMMITTED;
                return hex(log.read(Long.parseLong(columns[1]), Integer.parseInt(columns[2]), isolation, true).records);
            case "old": // 3.9
                return old(log.read(Long.parseLong(columns[2]), Integer.parseInt(columns[3]), FetchIsolation.LOG_END, // 3.9
                    true).records, Byte.parseByte(columns[1]), Long.parseLong(columns[2])); // 3.9
            case "before": // 3.9
                return log.legacyFetchOffsetsBefore(Long.parseLong(columns[1]), Integer.parseInt(columns[2])) // 3.9
                    .mkString(" "); // 3.9
            case "high":
                return "" + log.updateHighWatermark(Long.parseLong(columns[1]));
            case "time":
                FileRecords.TimestampAndOffset found =
                    log.fetchOffsetByTimestamp(Long.parseLong(columns[1]), Optional.empty()) // 4.4
                        .timestampAndOffsetOpt().orElse(null); // 4.4
                    scala.jdk.javaapi.OptionConverters.toJava(log.fetchOffsetByTimestamp( // 3.9
                        Long.parseLong(columns[1]), scala.Option.empty())).orElse(null); // 3.9
                return found == null ? "" : found.offset + "\t" + found.timestamp + "\t" + found.leaderEpoch.orElse(-1);
            case "epoch-end":
                OffsetAndEpoch end =
                    log.endOffsetForEpoch(Integer.parseInt(columns[1])).orElse(null); // 4.4
                    scala.jdk.javaapi.OptionConverters.toJava( // 3.9
                        log.endOffsetForEpoch(Integer.parseInt(columns[1]))).orElse(null); // 3.9
                return end == null ? "-1\t-1" : end.epoch() + "\t" + end.offset(); // 4.4
                return end == null ? "-1\t-1" : end.leaderEpoch() + "\t" + end.offset(); // 3.9
            case "epoch":
                log.assignEpochStartOffset(Integer.parseInt(columns[1]), log.logEndOffset()); // 4.4
                log.maybeAssignEpochStartOffset(Integer.parseInt(columns[1]), log.logEndOffset()); // 3.9
                return "";
            case "aborted":
                List<AbortedTxn> aborted =
                    log.collectAbortedTransactions(Long.parseLong(columns[1]), Long.parseLong(columns[2])); // 4.4
                    scala.jdk.javaapi.CollectionConverters.asJava(log.collectAbortedTransactions( // 3.9
                        Long.parseLong(columns[1]), Long.parseLong(columns[2]))); // 3.9
                return aborted.stream().filter(each -> each.lastOffset() >= Long.parseLong(columns[1])).map(each -> each.producerId() + ":" + each.firstOffset() + ":"
                    + each.lastOffset() + ":" + each.lastStableOffset()).collect(Collectors.joining(" "));
            case "delete":
                log.maybeIncrementLogStartOffset(Long.parseLong(columns[1]), LogStartOffsetIncrementReason.ClientRecordDeletion);
                return "";
            case "truncate":
                cleanedTo = Math.min(cleanedTo, Long.parseLong(columns[1])); // as LogManager does
                log.truncateTo(Long.parseLong(columns[1]));
                log.updateHighWatermark(log.highWatermark()); // else it keeps an old last stable offset
                return "";
            case "retention":
                log.deleteOldSegments();
                return "";
            case "expire":
                log.removeExpiredProducers(TIME.now);
                return "";
            case "compact":
                compact();
                return "";
            case "state":
                return state();
            default:
                throw new IllegalArgumentException(columns[0]);
        }
    }

    private static String created(String configs) throws Exception {
        if (log != null) {
            log.close();
            for (File each : folder.listFiles()) {
                each.delete();
            }
            folder.delete();
            folder.getParentFile().delete();
        }
        TIME.now = 0;
        cleanedTo = 0;
        Map<String, String> values = new HashMap<>();
        for (String each : configs.isEmpty() ? new String[0] : configs.split(";")) {
            values.put(each.split("=")[0], each.split("=", 2)[1]);
        }
        folder = new File(Files.createTempDirectory("log").toFile(), "t-0");
        folder.mkdir();
        ProducerStateManagerConfig producers = new ProducerStateManagerConfig(1000, false);
        LogConfig config = new LogConfig(values);
        log = UnifiedLog.create(folder, config, 0, 0, SCHEDULER, new BrokerTopicStats(), TIME, 900_000, // 4.4
            producers, 600_000, new LogDirFailureChannel(1), true, Optional.empty()); // 4.4
        log = UnifiedLog.apply(folder, config, 0, 0, SCHEDULER, new BrokerTopicStats(false), TIME, 900_000, // 3.9
            producers, 600_000, new LogDirFailureChannel(1), true, scala.Option.<Uuid>empty(), true, // 3.9
            new ConcurrentHashMap<>(), false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER); // 3.9
        touch();
        return "";
    }

    private static String appended(MemoryRecords records, int epoch, AppendOrigin origin, short version) throws Exception {
        LogAppendInfo info;
        int count = segments().size();
        try {
            info =
                log.appendAsLeader(records, epoch, origin, RequestLocal.noCaching(), VerificationGuard.SENTINEL, version); // 4.4
                log.appendAsLeader(records, epoch, origin, MetadataVersion.latestProduction(), // 3.9
                    kafka.server.RequestLocal.NoCaching(), VerificationGuard.SENTINEL); // 3.9
        } catch (Exception refused) {
            if (segments().size() != count) {
                touch(); // no more than a new segment has begun
            }
            throw refused;
        }
        touch();
        return info.firstOffset() + "\t" + info.lastOffset() + "\t" + info.logAppendTime() + "\t" + info.logStartOffset();
    }

    /** The bytes that a broker sends of records which it converts meanwhile. */
    private static String old(Records records, byte magic, long offset) throws Exception { // 3.9
        LazyDownConversionRecordsSend send = new LazyDownConversionRecords( // 3.9
            new TopicPartition("t", 0), records, magic, offset, TIME).toSend(); // 3.9
        ByteArrayOutputStream sent = new ByteArrayOutputStream(); // 3.9
        WritableByteChannel bytes = Channels.newChannel(sent); // 3.9
        TransferableChannel channel = (TransferableChannel) Proxy.newProxyInstance( // 3.9
            PartitionLogs.class.getClassLoader(), new Class<?>[] {TransferableChannel.class}, // 3.9
            (self, method, arguments) -> method.getName().equals("write") && arguments[0] instanceof ByteBuffer // 3.9
                ? bytes.write((ByteBuffer) arguments[0]) : method.getName().equals("isOpen")); // 3.9
        while (!send.completed()) { // 3.9
            send.writeTo(channel); // 3.9
        } // 3.9
        return HEX.formatHex(sent.toByteArray()); // 3.9
    } // 3.9

    /** Does what Kafka's cleaner does for the log that it has found to be the filthiest. */
    private static void compact() throws Exception {
        Method offsets = Class.forName("org.apache.kafka.storage.internals.log.LogCleanerManager") // 4.4
            .getDeclaredMethod("cleanableOffsets", UnifiedLog.class, Optional.class, long.class); // 4.4
        offsets.setAccessible(true); // 4.4
        Object found = offsets.invoke(null, log, Optional.of(cleanedTo), TIME.now); // 4.4
        Object found = kafka.log.LogCleanerManager.cleanableOffsets(log, scala.Option.apply(cleanedTo), TIME.now); // 3.9
        LogToClean dirty = new LogToClean(log, offset(found, "firstDirtyOffset"), // 4.4
            offset(found, "firstUncleanableDirtyOffset"), false); // 4.4
        LogToClean dirty = new LogToClean(log.topicPartition(), log, offset(found, "firstDirtyOffset"), // 3.9
            offset(found, "firstUncleanableDirtyOffset"), false); // 3.9
        if (!log.config().compact || dirty.totalBytes() == 0 || dirty.cleanableRatio() <= log.config().minCleanableRatio) {
            return;
        }
        Throttler throttler = new Throttler(Double.MAX_VALUE, Long.MAX_VALUE, "cleaner", "entries", TIME);
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(1 << 16), 1 << 20, 1 << 20, 0.75, throttler, TIME,
            each -> { }); // 4.4
            each -> scala.runtime.BoxedUnit.UNIT); // 3.9
        cleanedTo = cleaner.doClean(dirty, TIME.now).getKey(); // 4.4
        cleanedTo = (Long) cleaner.doClean(dirty, TIME.now)._1(); // 3.9
    }

    private static long offset(Object found, String name) throws Exception {
        Method getter = found.getClass().getMethod(name);
        getter.setAccessible(true);
        return (Long) getter.invoke(found);
    }

    /** The file's time follows the clock of the test. */
    private static void touch() throws Exception {
        LogSegment last = segments().get(segments().size() - 1);
        last.offsetIndex(); // makes the files, whose times are set too
        last.timeIndex();
        last.setLastModified(TIME.now);
    }

    private static List<LogSegment> segments() {
        return new ArrayList<>(log.logSegments());
    }

    private static String hex(Object records) throws Exception {
        if (records instanceof MemoryRecords) {
            ByteBuffer buffer = ((MemoryRecords) records).buffer();
            byte[] data = new byte[buffer.remaining()];
            buffer.get(data);
            return HEX.formatHex(data);
        }
        FileRecords file = (FileRecords) records;
        ByteBuffer buffer = ByteBuffer.allocate(file.sizeInBytes());
        file.readInto(buffer, 0);
        return HEX.formatHex(buffer.array(), 0, buffer.limit());
    }

    private static String state() throws Exception {
        StringBuilder producers = new StringBuilder();
        log.producerStateManager().activeProducers().entrySet().stream().sorted(Map.Entry.comparingByKey())
            .forEach(each -> producers.append(each.getKey()).append(':').append(each.getValue().producerEpoch())
                .append(':').append(each.getValue().lastSeq()) // 3.9
                .append(':').append(each.getValue().batchMetadata().stream().reduce((a, b) -> b).map(b -> b.lastSeq()).orElse(-1)) // 4.4
                .append(':').append(each.getValue().lastTimestamp())
                .append(':').append(each.getValue().coordinatorEpoch())
                .append(':').append(each.getValue().currentTxnFirstOffset().orElse(-1))
                .append(':').append(each.getValue().batchMetadata().size()).append(' '));
        String epochs = log.leaderEpochCache().epochEntries().stream() // 4.4
        String epochs = log.leaderEpochCache().get().epochEntries().stream() // 3.9
            .map(each -> each.epoch + ":" + each.startOffset) // 3.9
            .map(each -> each.epoch() + ":" + each.startOffset()) // 4.4
            .collect(Collectors.joining(" "));
        String bases = segments().stream().sorted(Comparator.comparing(LogSegment::baseOffset))
            .map(each -> each.baseOffset() + ":" + each.size()).collect(Collectors.joining(" "));
        return log.logStartOffset() + "\t" + log.logEndOffset() + "\t" + log.highWatermark() + "\t"
            + log.lastStableOffset() + "\t" + log.size() + "\t" + bases + "\t" + epochs + "\t"
            + producers.toString().trim();
    }
}
