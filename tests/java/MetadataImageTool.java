import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.FileLogInputStream;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.security.token.delegation.TokenInformation;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.loader.MetadataBatchLoader;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.SupportedConfigChecker;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Kafka's own replay of a metadata log, one request a line, one image as JSON a line:
 *
 * <pre>mode TAB offset TAB snapshot (or nothing) TAB its end offset TAB its epoch TAB segments with ;</pre>
 *
 * Mode "batches" is how brokers read the log, transactions included. There a record that is refused
 * may spoil what is read with it; mode "records" makes a new image after each record.
 * The JSON has the kinds and names of ClusterState.items, for what an image holds, and "faults":
 * the records that were refused.
 */
public final class MetadataImageTool {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(line.split("\t", -1)));
    }

    private static String answer(String[] columns) throws IOException {
        boolean each = columns[0].equals("records");
        long at = Long.parseLong(columns[1]);
        List<String> faults = new ArrayList<>();
        MetadataImage[] image = {MetadataImage.EMPTY};
        MetadataBatchLoader loader = new MetadataBatchLoader(new LogContext(), Time.SYSTEM,
            (text, cause) -> {
                faults.add(text + ": " + cause);
                return new RuntimeException(text, cause);
            },
            (delta, made, manifest) -> image[0] = made, SupportedConfigChecker.TRUE);
        long next = 0;
        if (!columns[2].isEmpty()) {
            next = Long.parseLong(columns[3]);
            image[0] = snapshot(new File(columns[2]), next, Integer.parseInt(columns[4]));
            loader.resetToImage(image[0]);
        }
        for (String segment : columns[5].split(";")) {
            next = segment(new File(segment), next, at, (batch, messages) -> {
                // Snapshots end with a batch, so that none is read in part from its middle on.
                long offset = batch.baseOffset();
                if (each) {
                    image[0] = oneByOne(image[0], offset, messages, faults);
                    return;
                }
                loader.loadBatch(Batch.data(offset, batch.partitionLeaderEpoch(),
                    batch.maxTimestamp(), batch.sizeInBytes(), messages), LeaderAndEpoch.UNKNOWN);
                loader.maybeFlushBatches(LeaderAndEpoch.UNKNOWN, true);
            });
        }
        ObjectNode shown = show(image[0]);
        ArrayNode list = shown.putArray("faults");
        faults.forEach(list::add);
        return JSON.writeValueAsString(shown);
    }

    private static MetadataImage snapshot(File file, long end, int epoch) throws IOException {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        try (FileRecords records = FileRecords.open(file, false)) {
            for (FileLogInputStream.FileChannelRecordBatch batch : records.batches()) {
                if (!batch.isControlBatch()) {
                    for (Record record : batch) {
                        delta.replay(message(record).message());
                    }
                }
            }
        }
        delta.finishSnapshot();
        return delta.apply(new MetadataProvenance(end - 1, epoch, 0, true));
    }

    private static MetadataImage oneByOne(MetadataImage start, long first,
                                          List<ApiMessageAndVersion> messages, List<String> faults) {
        MetadataImage image = start;
        long offset = first;
        for (ApiMessageAndVersion message : messages) {
            MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
            try {
                delta.replay(message.message());
                image = delta.apply(new MetadataProvenance(offset, 0, 0, true));
            } catch (RuntimeException refused) {
                faults.add("from offset " + offset + ": " + refused);
            }
            offset++;
        }
        return image;
    }

    private static long segment(File file, long from, long at,
                                BiConsumer<FileLogInputStream.FileChannelRecordBatch,
                                    List<ApiMessageAndVersion>> reader) throws IOException {
        long next = from;
        try (FileRecords records = FileRecords.open(file, false)) {
            for (FileLogInputStream.FileChannelRecordBatch batch : records.batches()) {
                if (batch.baseOffset() > at) {
                    break;
                }
                if (batch.lastOffset() < next || batch.isControlBatch()) {
                    continue;
                }
                List<ApiMessageAndVersion> messages = new ArrayList<>();
                for (Record record : batch) {
                    if (record.offset() >= next && record.offset() <= at) {
                        messages.add(message(record));
                    }
                }
                if (!messages.isEmpty()) {
                    reader.accept(batch, messages);
                }
                next = batch.lastOffset() + 1;
            }
        }
        return next;
    }

    private static ApiMessageAndVersion message(Record record) {
        ByteBuffer value = record.value();
        return MetadataRecordSerde.INSTANCE.read(new ByteBufferAccessor(value), value.remaining());
    }

    private static ObjectNode show(MetadataImage image) {
        ObjectNode all = JSON.createObjectNode();
        ObjectNode features = all.putObject("features");
        image.features().finalizedVersions().forEach((name, level) ->
            features.putObject(name).put("featureLevel", level));
        image.features().metadataVersion().ifPresent(version ->
            features.putObject("metadata.version").put("featureLevel", version.featureLevel())
                .put("release", version.version()));
        nodes(image, all);
        topics(image, all);
        ObjectNode configs = all.putObject("configs");
        image.configs().resourceData().forEach((resource, data) -> {
            ObjectNode values = configs.putObject(resource.type() + " "
                + (resource.name().isEmpty() ? "<default>" : resource.name()));
            data.toMap().forEach(values::put);
        });
        ObjectNode acls = all.putObject("acls");
        image.acls().acls().forEach((id, acl) -> acls.putObject(id.toString())
            .put("principal", acl.principal()).put("host", acl.host())
            .put("permissionType", acl.permissionType().name())
            .put("operation", acl.operation().name())
            .put("resourceType", acl.resourceType().name())
            .put("patternType", acl.patternType().name())
            .put("resourceName", acl.resourceName()));
        ObjectNode quotas = all.putObject("quotas");
        image.clientQuotas().entities().forEach((entity, found) -> {
            List<String> parts = new ArrayList<>();
            entity.entries().entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(entry ->
                parts.add(entry.getKey() + "="
                    + (entry.getValue() == null ? "<default>" : entry.getValue())));
            ObjectNode rates = quotas.putObject(String.join(", ", parts));
            found.quotas().forEach(rates::put);
        });
        ObjectNode users = all.putObject("scram_users");
        image.scram().mechanisms().forEach((mechanism, credentials) -> credentials
            .forEach((user, credential) -> users.putObject(user + " " + mechanism.mechanismName())
                .put("iterations", credential.iterations())));
        ObjectNode tokens = all.putObject("delegation_tokens");
        image.delegationTokens().tokens().forEach((id, data) -> {
            TokenInformation token = data.tokenInformation();
            ObjectNode shown = tokens.putObject(id)
                .put("owner", token.ownerAsString())
                .put("requester", token.tokenRequesterAsString())
                .put("issueTimestamp", token.issueTimestamp())
                .put("expirationTimestamp", token.expiryTimestamp())
                .put("maxTimestamp", token.maxTimestamp());
            token.renewersAsString().forEach(shown.putArray("renewers")::add);
        });
        ObjectNode producers = all.putObject("producer_ids");
        if (image.producerIds().nextProducerId() >= 0) {
            producers.putObject("next").put("nextProducerId", image.producerIds().nextProducerId());
        }
        return all;
    }

    private static void nodes(MetadataImage image, ObjectNode all) {
        ObjectNode controllers = all.putObject("controllers");
        image.cluster().controllers().forEach((id, controller) -> {
            ObjectNode shown = controllers.putObject(id.toString())
                .put("incarnationId", controller.incarnationId().toString())
                .put("zkMigrationReady", controller.zkMigrationReady());
            endpoints(shown, controller.listeners());
            ranges(shown, controller.supportedFeatures());
        });
        ObjectNode brokers = all.putObject("brokers");
        for (BrokerRegistration broker : image.cluster().brokers().values()) {
            ObjectNode shown = brokers.putObject(Integer.toString(broker.id()))
                .put("fenced", broker.fenced())
                .put("inControlledShutdown", broker.inControlledShutdown())
                .put("brokerEpoch", broker.epoch())
                .put("rack", broker.rack().orElse(null))
                .put("incarnationId", broker.incarnationId().toString());
            endpoints(shown, broker.listeners());
            ranges(shown, broker.supportedFeatures());
            sorted(shown.putArray("logDirs"), broker.directories());
            if (broker.cordonedDirectories() == null) {
                shown.putNull("cordonedLogDirs");
            } else {
                sorted(shown.putArray("cordonedLogDirs"), broker.cordonedDirectories());
            }
        }
    }

    private static void topics(MetadataImage image, ObjectNode all) {
        ObjectNode topics = all.putObject("topics");
        ObjectNode partitions = all.putObject("partitions");
        image.topics().topicsById().forEach((id, topic) -> {
            topics.putObject(topic.name()).put("topicId", id.toString())
                .put("partitions", topic.partitions().size());
            topic.partitions().forEach((number, partition) ->
                partition(partitions.putObject(topic.name() + "-" + number), partition));
        });
    }

    private static void partition(ObjectNode shown, PartitionRegistration partition) {
        shown.put("leader", partition.leader)
            .put("leaderEpoch", partition.leaderEpoch)
            .put("partitionEpoch", partition.partitionEpoch)
            .put("leaderRecoveryState", partition.leaderRecoveryState.name());
        numbers(shown.putArray("replicas"), partition.replicas);
        numbers(shown.putArray("isr"), partition.isr);
        numbers(shown.putArray("addingReplicas"), partition.addingReplicas);
        numbers(shown.putArray("removingReplicas"), partition.removingReplicas);
        numbers(shown.putArray("eligibleLeaderReplicas"), partition.elr);
        numbers(shown.putArray("lastKnownElr"), partition.lastKnownElr);
        ids(shown.putArray("directories"), partition.directories);
    }

    private static void endpoints(ObjectNode shown, Map<String, Endpoint> listeners) {
        ArrayNode list = shown.putArray("endPoints");
        listeners.entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(entry ->
            list.addObject().put("name", entry.getKey()).put("host", entry.getValue().host())
                .put("port", entry.getValue().port())
                .put("securityProtocol", entry.getValue().securityProtocol().name));
    }

    private static void ranges(ObjectNode shown, Map<String, VersionRange> features) {
        ObjectNode ranges = shown.putObject("features");
        features.forEach((name, range) -> ranges.put(name, range.min() + "-" + range.max()));
    }

    private static void numbers(ArrayNode list, int[] numbers) {
        for (int number : numbers) {
            list.add(number);
        }
    }

    private static void sorted(ArrayNode list, List<Uuid> ids) {
        ids.stream().map(Uuid::toString).sorted().forEach(list::add);
    }

    private static void ids(ArrayNode list, Uuid[] ids) {
        for (Uuid id : ids) {
            list.add(id.toString());
        }
    }
}
