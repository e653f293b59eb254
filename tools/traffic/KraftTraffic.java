import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Many kinds of requests to a KRaft cluster, from one JVM: KraftTraffic BOOTSTRAP SECRET.
 * SECRET becomes the value of a config that is a password.
 *
 * Each step prints its name and "ok" or the exception that the brokers asked for. After the work it
 * prints "leader ID" (the active controller's), waits for a line, by which time that one has ended,
 * and goes on until there is another leader.
 */
public final class KraftTraffic {
    private static final long SECONDS = 30;
    private static final Duration POLL = Duration.ofMillis(200);
    private static String bootstrap;
    private static String secret;

    public static void main(String[] args) throws Exception {
        bootstrap = args[0];
        secret = args[1];
        try (Admin admin = Admin.create(Map.<String, Object>of(
                "bootstrap.servers", bootstrap, "client.id", "admin", "retry.backoff.max.ms", 500))) {
            topics(admin);
            data(admin);
            cluster(admin);
            security(admin);
            groups(admin);
            changes(admin);
            int leader = leader(admin);
            System.out.println("leader " + leader);
            new BufferedReader(new InputStreamReader(System.in)).readLine();
            Lines.step("another leader", () -> anotherLeader(admin, leader));
            Lines.step("createTopics there", () -> admin.createTopics(
                List.of(new NewTopic("after", 2, (short) 2))).all());
            Lines.step("deleteTopics there", () -> admin.deleteTopics(List.of("after", "many")).all());
        }
    }

    private static void topics(Admin admin) {
        Lines.step("createTopics", () -> admin.createTopics(List.of(
            new NewTopic("fruit", 3, (short) 3).configs(Map.of("retention.ms", "3600000")),
            new NewTopic("assigned", Map.of(0, List.of(1, 2), 1, List.of(2, 3))),
            new NewTopic("big", 1, (short) 1).configs(Map.of("max.message.bytes", "4000000")),
            new NewTopic("größe", 1, (short) 1))).all());
        Lines.step("createTopics again", () -> admin.createTopics(
            List.of(new NewTopic("fruit", 1, (short) 1))).all());
        Lines.step("createTopics validated", () -> admin.createTopics(
            List.of(new NewTopic("fancied", 1, (short) 9)),
            new CreateTopicsOptions().validateOnly(true)).all());
        Lines.step("createPartitions", () -> admin.createPartitions(Map.of("fruit", NewPartitions.increaseTo(4))).all());
    }

    private static void data(Admin admin) {
        for (String compression : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            Lines.step("produce " + compression, () -> produce(Map.of("compression.type", compression,
                "client.id", "producer-" + compression), 30, 200));
        }
        Lines.step("produce acks=0", () -> produce(Map.of("acks", "0", "enable.idempotence", false,
            "client.id", "careless"), 10, 50));
        Lines.step("transactions", KraftTraffic::transactions);
        Lines.step("produce big", KraftTraffic::produceBig);
        Lines.step("consume big", () -> consume("big-readers", "big", 3, Map.of(
            "fetch.min.bytes", 800_000, "fetch.max.wait.ms", 2000, "max.partition.fetch.bytes", 3_000_000)));
        Lines.step("consume", () -> consume("eaters", "fruit", 100, Map.of(
            "isolation.level", "read_committed", "client.id", "eater", "client.rack", "r1")));
        Lines.step("consume by the new protocol", () -> consume("new-eaters", "fruit", 100, Map.of(
            "group.protocol", "consumer")));
        Lines.step("share", () -> share(admin));
    }

    private static void cluster(Admin admin) {
        ConfigResource fruit = new ConfigResource(ConfigResource.Type.TOPIC, "fruit");
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        Lines.step("createTopics of many partitions", () -> admin.createTopics(List.of(
            new NewTopic("many", 1200, (short) 1), new NewTopic("more", 1000, (short) 1))).all());
        Lines.step("describeTopics", () -> admin.describeTopics(List.of("fruit", "many", "none")).allTopicNames());
        Lines.step("describeCluster", () -> admin.describeCluster().nodes());
        Lines.step("describeConfigs", () -> admin.describeConfigs(List.of(fruit, broker,
            new ConfigResource(ConfigResource.Type.BROKER_LOGGER, "1"))).all());
        Lines.step("describeConfigs of nothing", () -> admin.describeConfigs(
            List.of(new ConfigResource(ConfigResource.Type.TOPIC, "none"))).all());
        Lines.step("incrementalAlterConfigs", () -> admin.incrementalAlterConfigs(Map.of(
            fruit, List.of(set("cleanup.policy", "compact,delete"), set("retention.bytes", "1000000")),
            new ConfigResource(ConfigResource.Type.BROKER, ""), List.of(set("log.retention.ms", "7200000")),
            new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "sub"), List.of(set("interval.ms", "100000"))
            )).all());
        Lines.step("incrementalAlterConfigs badly", () -> admin.incrementalAlterConfigs(Map.of(
            fruit, List.of(set("cleanup.policy", "shred")))).all());
        Lines.step("incrementalAlterConfigs of a listener's password", () -> admin.incrementalAlterConfigs(Map.of(
            broker, List.of(set("listener.name.tls.ssl.keystore.password", secret)))).all());
        Lines.step("listConfigResources", () -> admin.listConfigResources().all());
        Lines.step("describeMetadataQuorum", () -> admin.describeMetadataQuorum().quorumInfo());
        Lines.step("describeFeatures", () -> admin.describeFeatures().featureMetadata());
        Lines.step("updateFeatures validated", () -> admin.updateFeatures(Map.of("metadata.version",
            new FeatureUpdate((short) 25, FeatureUpdate.UpgradeType.SAFE_DOWNGRADE)),
            new UpdateFeaturesOptions().validateOnly(true)).all());
        Lines.step("describeLogDirs", () -> admin.describeLogDirs(List.of(1, 2)).allDescriptions());
        Lines.step("listTopics", () -> allTopics(admin));
        Lines.step("unregisterBroker", () -> admin.unregisterBroker(77).all());
    }

    private static void security(Admin admin) {
        AclBinding binding = new AclBinding(
            new ResourcePattern(ResourceType.TOPIC, "fr", PatternType.PREFIXED),
            new AccessControlEntry("User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW));
        Lines.step("createAcls", () -> admin.createAcls(List.of(binding)).all());
        Lines.step("describeAcls", () -> admin.describeAcls(AclBindingFilter.ANY).values());
        Lines.step("deleteAcls", () -> admin.deleteAcls(List.of(new AclBindingFilter(
            ResourcePatternFilter.ANY, AccessControlEntryFilter.ANY))).all());
        ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(
            ClientQuotaEntity.USER, "alice", ClientQuotaEntity.CLIENT_ID, "eater"));
        Lines.step("alterClientQuotas", () -> admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity,
            List.of(new ClientQuotaAlteration.Op("consumer_byte_rate", 1e6),
                new ClientQuotaAlteration.Op("request_percentage", 12.5))))).all());
        Lines.step("describeClientQuotas", () -> admin.describeClientQuotas(ClientQuotaFilter.all()).entities());
        Lines.step("alterUserScramCredentials", () -> admin.alterUserScramCredentials(List.of(
            new UserScramCredentialUpsertion("alice", new ScramCredentialInfo(
                ScramMechanism.SCRAM_SHA_256, 4096), "alice-secret"),
            new UserScramCredentialUpsertion("carol", new ScramCredentialInfo(
                ScramMechanism.SCRAM_SHA_512, 8192), "carol-secret"))).all());
        Lines.step("describeUserScramCredentials", () -> admin.describeUserScramCredentials().all());
        Lines.step("alterUserScramCredentials badly", () -> admin.alterUserScramCredentials(List.of(
            new UserScramCredentialDeletion("nobody", ScramMechanism.SCRAM_SHA_256))).all());
        Lines.step("createDelegationToken", () -> admin.createDelegationToken().delegationToken());
        Lines.step("describeDelegationToken", () -> admin.describeDelegationToken().delegationTokens());
        Lines.step("renewDelegationToken", () -> admin.renewDelegationToken(new byte[] {1, 2}).expiryTimestamp());
        Lines.step("expireDelegationToken", () -> admin.expireDelegationToken(new byte[] {1, 2}).expiryTimestamp());
    }

    private static void groups(Admin admin) {
        TopicPartition first = new TopicPartition("fruit", 0);
        Lines.step("listGroups", () -> admin.listGroups().all());
        Lines.step("describeConsumerGroups", () -> admin.describeConsumerGroups(
            List.of("eaters", "new-eaters", "nobody")).all());
        Lines.step("describeClassicGroups", () -> admin.describeClassicGroups(List.of("eaters")).all());
        Lines.step("describeShareGroups", () -> admin.describeShareGroups(List.of("sharers")).all());
        Lines.step("listConsumerGroupOffsets", () -> admin.listConsumerGroupOffsets(Map.of(
            "eaters", new ListConsumerGroupOffsetsSpec())).all());
        Lines.step("alterConsumerGroupOffsets", () -> admin.alterConsumerGroupOffsets("eaters", Map.of(
            first, new OffsetAndMetadata(1, Optional.of(0), "by hand"))).all());
        Lines.step("deleteConsumerGroupOffsets", () -> admin.deleteConsumerGroupOffsets("eaters", Set.of(first)).all());
        Lines.step("deleteConsumerGroups", () -> admin.deleteConsumerGroups(List.of("eaters", "nobody")).all());
        Lines.step("listOffsets", () -> admin.listOffsets(Map.of(first, OffsetSpec.earliest(),
            new TopicPartition("fruit", 1), OffsetSpec.maxTimestamp())).all());
        Lines.step("describeProducers", () -> admin.describeProducers(List.of(first)).all());
        Lines.step("listTransactions", () -> admin.listTransactions().all());
        Lines.step("describeTransactions", () -> admin.describeTransactions(List.of("ledger", "none")).all());
        Lines.step("fenceProducers", () -> admin.fenceProducers(List.of("ledger")).all());
        Lines.step("deleteShareGroups", () -> admin.deleteShareGroups(List.of("sharers")).all());
    }

    private static void changes(Admin admin) {
        TopicPartition moved = new TopicPartition("assigned", 0);
        Lines.step("alterPartitionReassignments", () -> admin.alterPartitionReassignments(Map.of(
            moved, Optional.of(new NewPartitionReassignment(List.of(3, 1))))).all());
        Lines.step("listPartitionReassignments", () -> admin.listPartitionReassignments().reassignments());
        Lines.step("electLeaders", () -> admin.electLeaders(ElectionType.PREFERRED,
            Set.of(moved, new TopicPartition("fruit", 0))).all());
        Lines.step("deleteRecords", () -> admin.deleteRecords(Map.of(
            new TopicPartition("fruit", 0), RecordsToDelete.beforeOffset(2))).all());
        Lines.step("deleteTopics", () -> admin.deleteTopics(List.of("big", "none")).all());
    }

    private static AlterConfigOp set(String name, String value) {
        return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
    }

    private static Map<String, Object> with(Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(more);
        config.put("bootstrap.servers", bootstrap);
        return config;
    }

    private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> more) {
        return new KafkaProducer<>(with(more), new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static Object produce(Map<String, Object> more, int count, int size) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(more)) {
            for (int i = 0; i < count; i++) {
                byte[] value = new byte[size];
                Arrays.fill(value, (byte) ('a' + i % 26));
                ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>("fruit", new byte[] {(byte) i}, value);
                record.headers().add("trace", new byte[] {0, (byte) i});
                producer.send(record);
            }
            producer.flush();
        }
        return null;
    }

    private static ConsumerGroupMetadata group() {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                with(Map.of("group.id", "ledger-group")),
                new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            return consumer.groupMetadata();
        }
    }

    private static Object transactions() {
        try (KafkaProducer<byte[], byte[]> producer =
                producer(Map.of("transactional.id", "ledger", "client.id", "bookkeeper"))) {
            producer.initTransactions();
            for (boolean commit : new boolean[] {true, false}) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("fruit", 0, null, new byte[] {1}));
                if (commit) {
                    producer.sendOffsetsToTransaction(
                        Map.of(new TopicPartition("fruit", 1), new OffsetAndMetadata(1)),
                        group());
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
        return null;
    }

    /** Three records of 300 kB that no compression could make smaller. */
    private static Object produceBig() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                producer(Map.of("max.request.size", 3_000_000, "linger.ms", 0))) {
            Random random = new Random(1);
            for (int i = 0; i < 3; i++) {
                byte[] value = new byte[300_000];
                random.nextBytes(value);
                producer.send(new ProducerRecord<>("big", value)).get(SECONDS, TimeUnit.SECONDS);
            }
        }
        return null;
    }

    private static Object consume(String group, String topic, int count, Map<String, Object> more) {
        Map<String, Object> config = with(more);
        config.put("group.id", group);
        config.put("auto.offset.reset", "earliest");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            int seen = 0;
            while (seen < count) {
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException("only " + seen + " records came");
                }
                seen += consumer.poll(POLL).count();
            }
            consumer.commitSync();
        }
        return null;
    }

    private static Object share(Admin admin) throws Exception {
        admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, "sharers"),
            List.of(set("share.auto.offset.reset", "earliest")))).all().get(SECONDS, TimeUnit.SECONDS);
        Map<String, Object> config = with(Map.of("group.id", "sharers"));
        try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(
                config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of("fruit"));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            int seen = 0;
            while (seen < 20) {
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException("only " + seen + " records came");
                }
                seen += consumer.poll(POLL).count();
            }
            consumer.commitSync();
        }
        return null;
    }

    /** Brokers learn of topics a moment after the client that had them made. */
    private static Object allTopics(Admin admin) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!admin.listTopics().names().get(SECONDS, TimeUnit.SECONDS).containsAll(List.of("many", "more"))) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("the new topics are not listed");
            }
            Thread.sleep(200);
        }
        return null;
    }

    private static int leader(Admin admin) throws Exception {
        return admin.describeMetadataQuorum().quorumInfo().get(SECONDS, TimeUnit.SECONDS).leaderId();
    }

    private static Object anotherLeader(Admin admin, int before) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (leader(admin) == before) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("node " + before + " is still the leader");
            }
            Thread.sleep(200);
        }
        return null;
    }
}
