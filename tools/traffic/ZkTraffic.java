import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What makes a controller of ZooKeeper's time talk to its brokers: ZkTraffic BOOTSTRAP.
 *
 * Each step prints its name and "ok" or the exception that the brokers asked for.
 */
public final class ZkTraffic {
    private static final long SECONDS = 30;

    public static void main(String[] args) {
        Map<String, Object> config = Map.of("bootstrap.servers", args[0], "client.id", "zk-admin");
        try (Admin admin = Admin.create(config)) {
            TopicPartition moved = new TopicPartition("lakes", 0);
            ConfigResource lakes = new ConfigResource(ConfigResource.Type.TOPIC, "lakes");
            Lines.step("createTopics", () -> admin.createTopics(List.of(new NewTopic("rivers", 2, (short) 2),
                new NewTopic("lakes", Map.of(0, List.of(1, 2), 1, List.of(2, 1))))).all());
            Lines.step("createPartitions", () -> admin.createPartitions(
                Map.of("rivers", NewPartitions.increaseTo(3))).all());
            Lines.step("produce", () -> produce(args[0]));
            Lines.step("consume", () -> consume(args[0]));
            Lines.step("incrementalAlterConfigs", () -> admin.incrementalAlterConfigs(Map.of(lakes, List.of(
                new AlterConfigOp(new ConfigEntry("cleanup.policy", "compact"),
                    AlterConfigOp.OpType.SET)))).all());
            Lines.step("describeConfigs", () -> admin.describeConfigs(List.of(lakes)).all());
            Lines.step("alterPartitionReassignments", () -> admin.alterPartitionReassignments(
                Map.of(moved, Optional.of(new NewPartitionReassignment(List.of(2))))).all());
            Lines.step("electLeaders", () -> admin.electLeaders(ElectionType.PREFERRED,
                Set.of(new TopicPartition("rivers", 0))).all());
            Lines.step("deleteConsumerGroups", () -> admin.deleteConsumerGroups(List.of("swimmers")).all());
            Lines.step("deleteTopics", () -> admin.deleteTopics(List.of("lakes")).all());
        }
    }

    private static Object produce(String bootstrap) throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < 20; i++) {
                producer.send(new ProducerRecord<>("rivers", "Elbe " + i)).get(SECONDS, TimeUnit.SECONDS);
            }
        }
        return null;
    }

    private static Object consume(String bootstrap) {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "group.id", "swimmers",
            "auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                config, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of("rivers"));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            int seen = 0;
            while (seen < 20) {
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException("only " + seen + " records came");
                }
                seen += consumer.poll(Duration.ofMillis(200)).count();
            }
            consumer.commitSync();
        }
        return null;
    }
}
