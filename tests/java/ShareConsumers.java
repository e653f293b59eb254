import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Share consumers of Java in one group: each line is the bootstrap servers of a cluster, and is
 * answered with what the consumers have seen there, the steps of the story joined by " | ".
 *
 * <p>Locks last for a second in the group, which brokers have to allow.
 */
public final class ShareConsumers {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final String TOPIC = "shared";
    private static final String GROUP = "sharers";

    private final String bootstrap;
    private final List<String> seen = new ArrayList<>();

    private ShareConsumers(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    public static void main(String[] args) throws Exception {
        Lines.answer(line -> String.join(" | ", new ShareConsumers(line).story()));
    }

    private List<String> story() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
            configure(admin, "share.auto.offset.reset", "earliest");
            produce("0", "1", "2", "3", "4", "5");
            acknowledged(admin);
            expired(admin);
            limited();
        }
        return seen;
    }

    /** Two members, one after the other: records that are accepted, released and rejected. */
    private void acknowledged(Admin admin) throws Exception {
        try (KafkaShareConsumer<String, String> one = consumer(Map.of());
                KafkaShareConsumer<String, String> two = consumer(Map.of())) {
            List<ConsumerRecord<String, String>> first = poll("first", one);
            for (ConsumerRecord<String, String> each : first) {
                one.acknowledge(each, switch (each.value()) {
                    case "1", "4" -> AcknowledgeType.RELEASE;
                    case "2" -> AcknowledgeType.REJECT;
                    default -> AcknowledgeType.ACCEPT;
                });
            }
            commit("acknowledged", one);
            poll("released", one).forEach(each -> one.acknowledge(each, AcknowledgeType.RELEASE));
            commit("released again", one);
            describe("while one is there", admin);
            one.close();
            // The first one may have fetched them once more before its end, each by itself.
            Set<String> others = new TreeSet<>();
            long end = System.nanoTime() + PATIENCE_NS;
            while (others.size() < 2 && System.nanoTime() < end) {
                for (ConsumerRecord<String, String> each : two.poll(POLL)) {
                    two.acknowledge(each);
                    others.add(each.value());
                }
            }
            seen.add("of the other: " + others);
            commit("accepted", two);
        }
        describe("after all", admin);
    }

    /** A lock that ends, and one that is renewed. */
    private void expired(Admin admin) throws Exception {
        configure(admin, "share.record.lock.duration.ms", "1000");
        produce("slow");
        try (KafkaShareConsumer<String, String> one = consumer(Map.of())) {
            List<ConsumerRecord<String, String>> slow = poll("slow", one);
            seen.add("lock: " + one.acquisitionLockTimeoutMs());
            slow.forEach(each -> one.acknowledge(each, AcknowledgeType.RENEW));
            commit("renewed", one);
            slow = poll("renewed", one);
            Thread.sleep(1500);
            slow.forEach(one::acknowledge);
            commit("too late", one);
            poll("slow again", one).forEach(one::acknowledge);
            commit("in time", one);
        }
        configure(admin, "share.record.lock.duration.ms", "30000");
    }

    /** No more records than a member takes at once. */
    private void limited() throws Exception {
        produce("a", "b", "c", "d", "e");
        Map<String, Object> limits =
                Map.of("max.poll.records", 2, "share.acquire.mode", "record_limit");
        try (KafkaShareConsumer<String, String> one = consumer(limits)) {
            for (int turn = 0; turn < 3; turn++) {
                poll("at most two", one).forEach(one::acknowledge);
                commit("accepted", one);
            }
        }
    }

    private KafkaShareConsumer<String, String> consumer(Map<String, Object> more) {
        Map<String, Object> settings = new TreeMap<>(more);
        settings.put("bootstrap.servers", bootstrap);
        settings.put("group.id", GROUP);
        settings.put("share.acknowledgement.mode", "explicit");
        KafkaShareConsumer<String, String> found = new KafkaShareConsumer<>(
                settings, new StringDeserializer(), new StringDeserializer());
        found.subscribe(List.of(TOPIC));
        return found;
    }

    /** The records of the first poll that has some. */
    private List<ConsumerRecord<String, String>> poll(
            String step, KafkaShareConsumer<String, String> consumer) {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        long end = System.nanoTime() + PATIENCE_NS;
        while (found.isEmpty() && System.nanoTime() < end) {
            consumer.poll(POLL).forEach(found::add);
        }
        StringBuilder text = new StringBuilder(step).append(":");
        for (ConsumerRecord<String, String> each : found) {
            text.append(' ').append(each.offset()).append('=').append(each.value());
            text.append(" (").append(each.deliveryCount().map(String::valueOf).orElse("?"));
            text.append(')');
        }
        seen.add(text.toString());
        return found;
    }

    private void commit(String step, KafkaShareConsumer<String, String> consumer) {
        StringBuilder text = new StringBuilder(step).append(":");
        consumer.commitSync().forEach((partition, error) -> text.append(' ')
                .append(partition.topicPartition()).append('=')
                .append(error.map(each -> each.getClass().getSimpleName() + ", " + each.getMessage())
                        .orElse("none")));
        seen.add(text.toString());
    }

    private void describe(String step, Admin admin) throws Exception {
        ShareGroupDescription group =
                admin.describeShareGroups(List.of(GROUP)).all().get().get(GROUP);
        StringBuilder text = new StringBuilder(step).append(": ").append(group.groupState());
        group.members().forEach(each -> text.append(", ").append(each.assignment()));
        admin.listShareGroupOffsets(Map.of(GROUP, new ListShareGroupOffsetsSpec()))
                .partitionsToOffsetInfo(GROUP).get()
                .forEach((partition, found) -> text.append(", ").append(partition).append(' ')
                        .append(found.startOffset()).append(" lag ").append(found.lag()));
        seen.add(text.toString());
    }

    private void configure(Admin admin, String key, String value) throws Exception {
        AlterConfigOp set =
                new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
        ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, GROUP);
        admin.incrementalAlterConfigs(Map.of(group, List.of(set))).all().get();
    }

    private void produce(String... values) {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "linger.ms", 200);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                settings, new StringSerializer(), new StringSerializer())) {
            for (String each : values) {
                producer.send(new ProducerRecord<>(TOPIC, each));
            }
        }
    }
}
