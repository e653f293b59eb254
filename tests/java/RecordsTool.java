import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.record.*;
// Where a release has most of them in a package of their own, the test lets this line count:
// import org.apache.kafka.common.record.internal.*;

/**
 * Kafka's own reader and writer of record batches, one request a line, one answer a line:
 *
 * <pre>
 * write  batch as JSON  ->  ok  bytes in hex
 * read   bytes in hex   ->  ok  batches as JSON
 * control                ->  ok  control records of each type, bytes in hex
 * what it refuses       ->  err  exception-class: message
 * </pre>
 */
public final class RecordsTool {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        Lines.answer(RecordsTool::answer);
    }

    private static String answer(String line) throws Exception {
        String[] columns = line.split("\t", 2);
        try {
            return "ok\t" + switch (columns[0]) {
                case "write" -> write(JSON.readTree(columns[1]));
                case "read" -> read(HEX.parseHex(columns[1]));
                default -> control();
            };
        } catch (Throwable refused) {
            return "err\t" + refused.getClass().getSimpleName() + ": "
                + String.valueOf(refused.getMessage()).replaceAll("\\s+", " ");
        }
    }

    private static String write(JsonNode batch) throws Exception {
        Constructor<?> making = null;
        for (Constructor<?> each : MemoryRecordsBuilder.class.getConstructors()) {
            if (each.getParameterCount() == 14) {
                making = each; // the one that takes a delete horizon
            }
        }
        Object out = making.getParameterTypes()[0].getConstructor(int.class).newInstance(4096);
        boolean control = batch.get("is_control").asBoolean();
        MemoryRecordsBuilder builder = (MemoryRecordsBuilder) making.newInstance(
            out,
            (byte) batch.get("magic").asInt(),
            Compression.of(CompressionType.forName(batch.get("compression").asText())).build(),
            switch (batch.get("timestamp_type").asText()) {
                case "create" -> TimestampType.CREATE_TIME;
                case "log_append" -> TimestampType.LOG_APPEND_TIME;
                default -> TimestampType.NO_TIMESTAMP_TYPE;
            },
            batch.get("base_offset").asLong(),
            batch.get("log_append_time").asLong(),
            batch.get("producer_id").asLong(),
            (short) batch.get("producer_epoch").asInt(),
            batch.get("base_sequence").asInt(),
            batch.get("is_transactional").asBoolean(),
            control,
            batch.get("partition_leader_epoch").asInt(),
            Integer.MAX_VALUE,
            batch.get("delete_horizon").asLong());
        for (JsonNode record : batch.get("records")) {
            ArrayNode pairs = (ArrayNode) record.get("headers");
            Header[] headers = new Header[pairs.size()];
            for (int i = 0; i < headers.length; i++) {
                headers[i] = new RecordHeader(
                    pairs.get(i).get(0).asText(), bytes(pairs.get(i).get(1)));
            }
            long offset = record.get("offset").asLong();
            SimpleRecord simple = new SimpleRecord(
                record.get("timestamp").asLong(),
                bytes(record.get("key")),
                bytes(record.get("value")),
                headers);
            if (control) {
                builder.appendControlRecordWithOffset(offset, simple);
            } else {
                builder.appendWithOffset(offset, simple);
            }
        }
        ByteBuffer made = builder.build().buffer();
        byte[] bytes = new byte[made.remaining()];
        made.duplicate().get(bytes);
        return HEX.formatHex(bytes);
    }

    private static String read(byte[] bytes) throws Exception {
        ArrayNode batches = JSON.createArrayNode();
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
            batch.ensureValid();
            ObjectNode found = batches.addObject();
            found.put("magic", batch.magic());
            found.put("compression", batch.compressionType().name);
            found.put("timestamp_type", switch (batch.timestampType()) {
                case CREATE_TIME -> "create";
                case LOG_APPEND_TIME -> "log_append";
                default -> "none";
            });
            found.put("base_offset", batch.baseOffset());
            found.put("last_offset", batch.lastOffset());
            found.put("max_timestamp", batch.maxTimestamp());
            found.put("producer_id", batch.producerId());
            found.put("producer_epoch", batch.producerEpoch());
            found.put("base_sequence", batch.baseSequence());
            found.put("is_transactional", batch.isTransactional());
            found.put("is_control", batch.isControlBatch());
            found.put("partition_leader_epoch", batch.partitionLeaderEpoch());
            found.put("delete_horizon", batch.deleteHorizonMs().orElse(-1));
            found.put("size", batch.sizeInBytes());
            ArrayNode records = found.putArray("records");
            for (var record : batch) {
                ObjectNode one = records.addObject();
                one.put("offset", record.offset());
                one.put("timestamp", record.timestamp());
                one.put("key", hex(record.hasKey() ? record.key() : null));
                one.put("value", hex(record.hasValue() ? record.value() : null));
                ArrayNode headers = one.putArray("headers");
                for (Header header : record.headers()) {
                    ArrayNode pair = headers.addArray();
                    pair.add(header.key());
                    pair.add(hex(header.value() == null ? null : ByteBuffer.wrap(header.value())));
                }
            }
        }
        return JSON.writeValueAsString(batches);
    }

    private static String control() {
        LeaderChangeMessage.Voter voter = new LeaderChangeMessage.Voter().setVoterId(3);
        VotersRecord.Voter member = new VotersRecord.Voter()
            .setVoterId(3)
            .setVoterDirectoryId(new Uuid(1, 2))
            .setKRaftVersionFeature(
                new VotersRecord.KRaftVersionFeature().setMaxSupportedVersion((short) 1));
        member.endpoints().add(
            new VotersRecord.Endpoint().setName("CONTROLLER").setHost("here").setPort(9093));
        MemoryRecords[] made = {
            MemoryRecords.withEndTransactionMarker(
                7, (short) 1, new EndTransactionMarker(ControlRecordType.ABORT, 5)),
            MemoryRecords.withEndTransactionMarker(
                7, (short) 1, new EndTransactionMarker(ControlRecordType.COMMIT, 6)),
            MemoryRecords.withLeaderChangeMessage(0, 0, 1, ByteBuffer.allocate(512),
                new LeaderChangeMessage().setLeaderId(3).setVoters(List.of(voter))),
            MemoryRecords.withSnapshotHeaderRecord(0, 0, 1, ByteBuffer.allocate(512),
                new SnapshotHeaderRecord().setLastContainedLogTimestamp(1234)),
            MemoryRecords.withSnapshotFooterRecord(0, 0, 1, ByteBuffer.allocate(512),
                new SnapshotFooterRecord()),
            MemoryRecords.withKRaftVersionRecord(0, 0, 1, ByteBuffer.allocate(512),
                new KRaftVersionRecord().setKRaftVersion((short) 1)),
            MemoryRecords.withVotersRecord(0, 0, 1, ByteBuffer.allocate(512),
                new VotersRecord().setVoters(List.of(member))),
        };
        StringBuilder all = new StringBuilder();
        for (MemoryRecords each : made) {
            all.append(hex(each.buffer()));
        }
        return all.toString();
    }

    private static byte[] bytes(JsonNode hex) {
        return hex.isNull() ? null : HEX.parseHex(hex.asText());
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HEX.formatHex(bytes);
    }
}
