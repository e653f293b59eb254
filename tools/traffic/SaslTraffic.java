import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Clients that log in: SaslTraffic BOOTSTRAP, then MECHANISM USER PASSWORD for each of them.
 *
 * Each creates a topic of its name, which its broker forwards to the controller, and asks for a
 * delegation token; a line for each says "ok" or what it was refused with.
 */
public final class SaslTraffic {
    private static final long SECONDS = 30;

    public static void main(String[] args) {
        for (int i = 1; i + 2 < args.length; i += 3) {
            String[] who = {args[i], args[i + 1], args[i + 2]};
            Lines.step(who[0] + " " + who[1], () -> login(args[0], who[0], who[1], who[2]));
        }
    }

    private static Object login(String bootstrap, String mechanism, String user, String password)
            throws Exception {
        String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
        Map<String, Object> config = Map.of(
            "bootstrap.servers", bootstrap,
            "client.id", "client-of-" + user,
            "security.protocol", "SASL_PLAINTEXT",
            "sasl.mechanism", mechanism,
            "sasl.jaas.config", "org.apache.kafka.common.security." + module + " required username=\""
                + user + "\" password=\"" + password + "\";");
        try (Admin admin = Admin.create(config)) {
            String topic = "of-" + user;
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all()
                .get(SECONDS, TimeUnit.SECONDS);
            admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic),
                List.of(new AlterConfigOp(new ConfigEntry("retention.ms", "60000"),
                    AlterConfigOp.OpType.SET)))).all().get(SECONDS, TimeUnit.SECONDS);
            admin.describeTopics(List.of(topic)).allTopicNames().get(SECONDS, TimeUnit.SECONDS);
            admin.createDelegationToken().delegationToken().get(SECONDS, TimeUnit.SECONDS);
            return null;
        }
    }
}
