import java.util.Properties;
import kafka.server.KafkaConfig;

/**
 * Kafka's check of a node's configs. A line has NAME=VALUE, split by tabs, beside those of a node
 * that is broker and controller; the answer is "taken", or what the exception says.
 */
public final class BrokerConfigs {
    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(line.split("\t")));
    }

    private static String answer(String[] given) {
        Properties properties = new Properties();
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", "1");
        properties.put("controller.quorum.voters", "1@127.0.0.1:9093");
        properties.put("listeners", "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093");
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put(
            "listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        for (String each : given) {
            int end = each.indexOf('=');
            properties.put(each.substring(0, end), each.substring(end + 1));
        }
        try {
            new KafkaConfig(properties, false);
            return "taken";
        } catch (RuntimeException refused) {
            return String.valueOf(refused.getMessage()).replace('\n', ' ');
        }
    }
}
