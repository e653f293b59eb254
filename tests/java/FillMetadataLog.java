import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateDelegationTokenOptions;
import org.apache.kafka.clients.admin.ExpireDelegationTokenOptions;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.ConfigResource.Type;
import org.apache.kafka.common.errors.DelegationTokenNotFoundException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Has a cluster of brokers 1 and 2 write every record of the metadata log that administrators
 * cause. Arguments: client properties as key=value, and "both" while both brokers run or "one"
 * after broker 2 has stopped.
 */
public final class FillMetadataLog {
    private static Admin admin;

    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        for (int i = 1; i < args.length; i++) {
            String[] parts = args[i].split("=", 2);
            settings.put(parts[0], parts[1]);
        }
        try (Admin opened = Admin.create(settings)) {
            admin = opened;
            if (args[0].equals("both")) {
                both(settings);
            } else {
                one();
            }
        }
    }

    private static void both(Properties settings) throws Exception {
        topics();
        configs();
        acls();
        quotas();
        users();
        tokens();
        settings.put("key.serializer", StringSerializer.class.getName());
        settings.put("value.serializer", StringSerializer.class.getName());
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            producer.send(new ProducerRecord<>("veg", "leek", "one")).get();
        }
        await("reassign", admin.alterPartitionReassignments(Map.of(
            new TopicPartition("veg", 0),
            Optional.of(new NewPartitionReassignment(List.of(2, 1))))).all());
        await("features", admin.updateFeatures(Map.of("transaction.version", new FeatureUpdate(
            (short) 1, FeatureUpdate.UpgradeType.SAFE_DOWNGRADE)), new UpdateFeaturesOptions()).all());
        await("delete nuts", admin.deleteTopics(Set.of("nuts")).all());
        await("nuts again", admin.createTopics(List.of(new NewTopic("nuts", 1, (short) 1))).all());
    }

    private static void one() throws Exception {
        alter(Type.TOPIC, "fruit", "min.insync.replicas", "1");
        await("unregister", admin.unregisterBroker(2).all());
        await("fungi", admin.createTopics(List.of(new NewTopic("fungi", 1, (short) 1))).all());
    }

    private static void topics() throws Exception {
        Map<String, String> configs = Map.of("retention.ms", "3600000", "min.insync.replicas", "2");
        await("topics", admin.createTopics(List.of(
            new NewTopic("fruit", 3, (short) 2).configs(configs),
            new NewTopic("veg", Map.of(0, List.of(1))),
            new NewTopic("nuts", 2, (short) 2).configs(Map.of("cleanup.policy", "compact")))).all());
        await("partitions", admin.createPartitions(Map.of("fruit", NewPartitions.increaseTo(4))).all());
    }

    private static void configs() throws Exception {
        alter(Type.TOPIC, "fruit", "max.message.bytes", "200000");
        alter(Type.TOPIC, "fruit", "retention.ms", "7200000");
        alter(Type.TOPIC, "veg", "segment.bytes", "2000000");
        alter(Type.TOPIC, "veg", "segment.bytes", null);
        alter(Type.BROKER, "", "message.max.bytes", "1500000");
        alter(Type.BROKER, "1", "log.cleaner.threads", "2");
        alter(Type.BROKER, "1", "listener.name.client.ssl.truststore.password", "opensesame");
        alter(Type.CLIENT_METRICS, "slow", "interval.ms", "60000");
        alter(Type.GROUP, "eaters", "consumer.session.timeout.ms", "50000");
    }

    private static void acls() throws Exception {
        AclBinding read = acl(ResourceType.TOPIC, "fruit", PatternType.LITERAL, "User:alice",
            AclOperation.READ, AclPermissionType.ALLOW);
        AclBinding write = acl(ResourceType.TOPIC, "fr", PatternType.PREFIXED, "User:bob",
            AclOperation.WRITE, AclPermissionType.ALLOW);
        AclBinding deny = acl(ResourceType.GROUP, "*", PatternType.LITERAL, "User:mallory",
            AclOperation.ALL, AclPermissionType.DENY);
        await("acls", admin.createAcls(List.of(read, write, deny)).all());
        await("fewer acls", admin.deleteAcls(List.of(write.toFilter())).all());
    }

    private static AclBinding acl(ResourceType type, String name, PatternType pattern,
                                  String principal, AclOperation operation, AclPermissionType permission) {
        return new AclBinding(new ResourcePattern(type, name, pattern),
            new AccessControlEntry(principal, "*", operation, permission));
    }

    private static void quotas() throws Exception {
        ClientQuotaEntity alice = new ClientQuotaEntity(Map.of("user", "alice", "client-id", "cli"));
        java.util.HashMap<String, String> everyone = new java.util.HashMap<>();
        everyone.put("user", null);
        ClientQuotaEntity defaults = new ClientQuotaEntity(everyone);
        await("quotas", admin.alterClientQuotas(List.of(
            new ClientQuotaAlteration(alice, List.of(
                new ClientQuotaAlteration.Op("producer_byte_rate", 1024.0),
                new ClientQuotaAlteration.Op("consumer_byte_rate", 2048.0))),
            new ClientQuotaAlteration(defaults, List.of(
                new ClientQuotaAlteration.Op("request_percentage", 12.5))))).all());
        await("fewer quotas", admin.alterClientQuotas(List.of(
            new ClientQuotaAlteration(alice, List.of(
                new ClientQuotaAlteration.Op("consumer_byte_rate", null))))).all());
    }

    private static void users() throws Exception {
        await("users", admin.alterUserScramCredentials(List.of(
            new UserScramCredentialUpsertion("bob",
                new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), "bobs secret"),
            new UserScramCredentialUpsertion("carol",
                new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096), "carols secret"))).all());
        await("fewer users", admin.alterUserScramCredentials(List.of(
            new UserScramCredentialDeletion("carol", ScramMechanism.SCRAM_SHA_256))).all());
    }

    private static void tokens() throws Exception {
        var kept = admin.createDelegationToken(new CreateDelegationTokenOptions()).delegationToken().get();
        var gone = admin.createDelegationToken(new CreateDelegationTokenOptions()).delegationToken().get();
        expire(gone.hmac());
        System.out.println("token kept: " + kept.tokenInfo().tokenId());
    }

    /** Until the broker has read from the log that there is such a token, it knows none. */
    private static void expire(byte[] hmac) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (true) {
            try {
                await("expire", admin.expireDelegationToken(hmac,
                    new ExpireDelegationTokenOptions().expiryTimePeriodMs(-1)).expiryTimestamp());
                return;
            } catch (ExecutionException error) {
                boolean unknown = error.getCause() instanceof DelegationTokenNotFoundException;
                if (!unknown || System.nanoTime() > end) {
                    throw error;
                }
            }
            Thread.sleep(100);
        }
    }

    private static void alter(Type type, String name, String config, String value) throws Exception {
        OpType op = value == null ? OpType.DELETE : OpType.SET;
        Collection<AlterConfigOp> ops = List.of(new AlterConfigOp(new ConfigEntry(config, value), op));
        await(config, admin.incrementalAlterConfigs(
            Map.of(new ConfigResource(type, name), ops)).all());
    }

    private static void await(String what, KafkaFuture<?> done) throws Exception {
        done.get();
        System.out.println(what);
    }
}
