import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafka.server.FetchContext; // 3.9
import kafka.server.FetchManager; // 3.9
import kafka.server.FetchSessionCache; // 3.9
import kafka.server.FetchSessionCacheShard; // 3.9
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.server.FetchContext; // 4.4
import org.apache.kafka.server.FetchManager; // 4.4
import org.apache.kafka.server.FetchSession.FetchSessionCache; // 4.4
import org.apache.kafka.server.FetchSessionCacheShard; // 4.4

/**
 * Kafka's FetchManager behind a line protocol: one request a line on stdin, one answer a line on
 * stdout, columns separated by tabs. Lines that end with a release are left out for other releases
 * (tests/helpers/release_tool.py).
 *
 * <pre>
 * new       slots                             a manager as a broker makes it; the time is 0
 * now       ms
 * open      version  id=name,...  hex         the request's partitions: name|id|partition|offset ...
 * respond   number of the open  version  rows of partitions: name|id|partition|error|high
 *           watermark|log start|preferred replica|diverging epoch|bytes of records ...
 *                                             the response in hex
 * </pre>
 * What fails is answered by: err, the exception's class.
 */
public final class FetchSessions {
    private static final HexFormat HEX = HexFormat.of();
    private static final int SHARDS = 8;
    private static final long EVICTION_MS = 120_000;
    private static FetchManager manager;
    private static final List<FetchContext> CONTEXTS = new ArrayList<>();

    private static final Clock TIME = new Clock();

    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(line.split("\t", -1)));
    }

    private static String answer(String[] columns) {
        try {
            return "ok\t" + done(columns);
        } catch (RuntimeException refused) {
            return "err\t" + refused.getClass().getName();
        }
    }

    private static String done(String[] columns) {
        switch (columns[0]) {
            case "new":
                return created(Integer.parseInt(columns[1]));
            case "now":
                TIME.now = Long.parseLong(columns[1]);
                return "";
            case "open":
                return opened(Short.parseShort(columns[1]), columns[2], columns[3]);
            case "respond":
                return responded(CONTEXTS.get(Integer.parseInt(columns[1])), Short.parseShort(columns[2]), columns[3]);
            default:
                throw new IllegalArgumentException(columns[0]);
        }
    }

    private static String created(int slots) {
        TIME.now = 0;
        CONTEXTS.clear();
        int range = Integer.MAX_VALUE / SHARDS;
        List<FetchSessionCacheShard> shards = new ArrayList<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            shards.add(new FetchSessionCacheShard(slots / SHARDS, EVICTION_MS, range, shard));
        }
        FetchSessionCache.COUNTER.set(0); // 4.4
        manager = new FetchManager(TIME, new FetchSessionCache(shards)); // 4.4
        kafka.server.FetchSessionCache$.MODULE$.counter().set(0); // 3.9
        manager = new FetchManager(TIME, new FetchSessionCache( // 3.9
            scala.jdk.javaapi.CollectionConverters.asScala(shards).toSeq())); // 3.9
        return "";
    }

    private static String opened(short version, String known, String hex) {
        Map<Uuid, String> names = new HashMap<>();
        for (String each : known.isEmpty() ? new String[0] : known.split(",")) {
            names.put(Uuid.fromString(each.split("=")[0]), each.split("=")[1]);
        }
        FetchRequest request = new FetchRequest(
            new FetchRequestData(new ByteBufferAccessor(ByteBuffer.wrap(HEX.parseHex(hex))), version), version);
        FetchContext context = manager.newContext(version, request.metadata(), request.isFromFollower(),
            request.fetchData(names), request.forgottenTopics(names), names);
        StringBuilder found = new StringBuilder();
        context.foreachPartition((each, data) -> {
            found.append(each.topic()).append('|').append(each.topicId()).append('|').append(each.partition())
                .append('|').append(data.fetchOffset).append(' ');
            return scala.runtime.BoxedUnit.UNIT; // 3.9
        });
        CONTEXTS.add(context);
        return found.toString().trim();
    }

    private static String responded(FetchContext context, short version, String rows) {
        LinkedHashMap<TopicIdPartition, FetchResponseData.PartitionData> read = new LinkedHashMap<>();
        for (String each : rows.isEmpty() ? new String[0] : rows.split(" ")) {
            String[] fields = each.split("\\|");
            int partition = Integer.parseInt(fields[2]);
            // Kafka compares with this very object to find partitions by names.
            Uuid id = version < 13 ? Uuid.ZERO_UUID : Uuid.fromString(fields[1]);
            TopicIdPartition key = new TopicIdPartition(id, partition,
                fields[0].equals("null") ? null : fields[0]);
            read.put(key, new FetchResponseData.PartitionData()
                .setPartitionIndex(partition)
                .setErrorCode(Short.parseShort(fields[3]))
                .setHighWatermark(Long.parseLong(fields[4]))
                .setLogStartOffset(Long.parseLong(fields[5]))
                .setPreferredReadReplica(Integer.parseInt(fields[6]))
                .setDivergingEpoch(new FetchResponseData.EpochEndOffset().setEpoch(Integer.parseInt(fields[7])))
                .setRecords(MemoryRecords.readableRecords(ByteBuffer.allocate(Integer.parseInt(fields[8])))));
        }
        FetchResponseData response = context.updateAndGenerateResponseData(read, List.of()).data(); // 4.4
        FetchResponseData response = context.updateAndGenerateResponseData(read).data(); // 3.9
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(response.size(cache, version));
        response.write(new ByteBufferAccessor(bytes), cache, version);
        return HEX.formatHex(bytes.array());
    }
}
