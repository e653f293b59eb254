import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;

/**
 * Java's AdminClient in sessions that end, one request a line: "BOOTSTRAP MECHANISM LOGIN_MODULE
 * NAME PASSWORD COUNT" lists topics over and over until the client has authenticated again COUNT
 * times, and answers with the connections that it has lost meanwhile, or "!" and an error.
 */
public final class SessionTool {
    private static final long PAUSE_MS = 50;
    private static final long MOST_MS = 30_000;

    public static void main(String[] args) throws Exception {
        Lines.answer(SessionTool::answer);
    }

    private static String answer(String line) throws Exception {
        try {
            return "" + lost(line.split(" "));
        } catch (Exception failed) {
            return "! " + failed;
        }
    }

    private static int lost(String[] words) throws Exception {
        Properties properties = new Properties();
        properties.putAll(Map.of(
            "bootstrap.servers", words[0],
            "security.protocol", "SASL_PLAINTEXT",
            "sasl.mechanism", words[1],
            "sasl.jaas.config", words[2] + " required username=\"" + words[3]
                + "\" password=\"" + words[4] + "\";"));
        long end = System.currentTimeMillis() + MOST_MS;
        try (Admin admin = Admin.create(properties)) {
            admin.listTopics().names().get();
            double closed = metric(admin, "connection-close-total");
            while (metric(admin, "successful-reauthentication-total") < Integer.parseInt(words[5])) {
                if (System.currentTimeMillis() > end) {
                    throw new IllegalStateException("it has not authenticated again");
                }
                admin.listTopics().names().get();
                Thread.sleep(PAUSE_MS);
            }
            return (int) (metric(admin, "connection-close-total") - closed);
        }
    }

    private static double metric(Admin admin, String name) {
        return admin.metrics().values().stream()
            .filter(each -> each.metricName().name().equals(name))
            .filter(each -> each.metricName().group().equals("admin-client-metrics"))
            .mapToDouble(each -> (double) each.metricValue())
            .sum();
    }
}
