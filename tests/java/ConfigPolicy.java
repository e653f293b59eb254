import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.AlterConfigPolicy;

/** The ConfigPolicy of tests/server/differential/policy.py, for a real broker. */
public final class ConfigPolicy implements AlterConfigPolicy {
    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void validate(RequestMetadata wanted) {
        Map<String, String> configs = new TreeMap<>(wanted.configs());
        String asked = wanted.resource().type().id() + " " + wanted.resource().name() + " " + configs;
        if ("0".equals(configs.get("file.delete.delay.ms"))) {
            throw new IllegalStateException(asked);
        }
        if (configs.containsKey("delete.retention.ms") || configs.containsKey("interval.ms")
                || configs.containsKey("log.retention.ms")) {
            throw new PolicyViolationException(asked);
        }
    }

    @Override
    public void close() {}
}
