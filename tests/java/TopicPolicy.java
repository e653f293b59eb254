import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.CreateTopicPolicy;

/** The policy of tests/server/differential/policy.py, for a real broker. */
public final class TopicPolicy implements CreateTopicPolicy {
    @Override
    public void configure(Map<String, ?> configs) {}

    @Override
    public void validate(RequestMetadata wanted) {
        Map<?, ?> assignment = wanted.replicasAssignments();
        String asked = wanted.topic() + " " + wanted.numPartitions() + " " + wanted.replicationFactor() + " "
            + (assignment == null ? "null" : new TreeMap<>(assignment)) + " " + new TreeMap<>(wanted.configs());
        if (wanted.topic().equals("UPPER-case") && wanted.numPartitions() != null && wanted.numPartitions() == 5) {
            throw new IllegalStateException(asked);
        }
        boolean many = wanted.numPartitions() != null && wanted.numPartitions() == 3;
        if (many || wanted.topic().equals("d") || wanted.configs().containsKey("retention.ms")) {
            throw new PolicyViolationException(asked);
        }
        if (assignment != null && assignment.size() == 2) {
            throw new PolicyViolationException("");
        }
    }

    @Override
    public void close() {}
}
