import java.net.InetAddress;
import java.util.Optional;
import kafka.server.ClientQuotaManager; // 3.9
import kafka.server.QuotaType; // 3.9
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.network.Session;
import org.apache.kafka.server.config.ClientQuotaManagerConfig;
import org.apache.kafka.server.quota.ClientQuotaManager; // 4.4
import org.apache.kafka.server.quota.QuotaType; // 4.4

/**
 * Kafka's ClientQuotaManager behind a line protocol: one request a line on stdin, one answer a line
 * on stdout, columns separated by tabs. Lines that end with a release are left out for other
 * releases (tests/helpers/release_tool.py).
 *
 * <pre>
 * new       samples  window in seconds  bytes a second   a manager with a quota of user u
 * record    ms  bytes                                    the throttle time in ms
 * unrecord  ms  bytes
 * most                                                   the most bytes of a Fetch
 * </pre>
 */
public final class ClientQuotas {
    private static ClientQuotaManager manager;
    private static Session session;

    private static final Clock TIME = new Clock();

    public static void main(String[] args) throws Exception {
        session = new Session(new KafkaPrincipal("User", "u"), InetAddress.getLoopbackAddress());
        Lines.answer(line -> answer(line.split("\t", -1)));
    }

    private static String answer(String[] columns) throws Exception {
        switch (columns[0]) {
            case "new":
                begin(Integer.parseInt(columns[1]), Integer.parseInt(columns[2]), Double.parseDouble(columns[3]));
                return "";
            case "record":
                TIME.now = Long.parseLong(columns[1]);
                return "" + manager.maybeRecordAndGetThrottleTimeMs(session, "c", Double.parseDouble(columns[2]), TIME.now);
            case "unrecord":
                TIME.now = Long.parseLong(columns[1]);
                unrecord(Double.parseDouble(columns[2]));
                return "";
            case "most":
                return "" + (int) manager.maxValueInQuotaWindow(session, "c"); // 4.4
                return "" + (int) manager.getMaxValueInQuotaWindow(session, "c"); // 3.9
            default:
                throw new IllegalArgumentException(columns[0]);
        }
    }

    private static void begin(int samples, int seconds, double bound) {
        if (manager != null) {
            manager.shutdown();
        }
        ClientQuotaManagerConfig config = new ClientQuotaManagerConfig(samples, seconds);
        manager = new ClientQuotaManager(config, new Metrics(TIME), QuotaType.FETCH, TIME, ""); // 4.4
        manager.updateQuota( // 4.4
            Optional.of(new ClientQuotaManager.UserEntity("u")), Optional.empty(), // 4.4
            Optional.of(Quota.upperBound(bound))); // 4.4
        manager = new ClientQuotaManager(config, new Metrics(TIME), kafka.server.QuotaType.Fetch$.MODULE$, TIME, "", scala.Option.empty()); // 3.9
        manager.updateQuota( // 3.9
            scala.Option.apply("u"), scala.Option.empty(), scala.Option.empty(), // 3.9
            scala.Option.apply(Quota.upperBound(bound))); // 3.9
    }

    private static void unrecord(double value) {
        manager.unrecordQuotaSensor(session, "c", value, TIME.now); // 4.4
        manager.getOrCreateQuotaSensors(session, "c").quotaSensor().record(value * -1, TIME.now, false); // 3.9
    }
}
