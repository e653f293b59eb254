import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.admin.AdminUtils;
import org.apache.kafka.admin.BrokerMetadata;

/**
 * The assignments of clusters with ZooKeeper, one request a line, as PlacementTool has them; the
 * seed is the index of the broker to begin with.
 */
public final class ZkPlacementTool {
    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(line.split("\t")));
    }

    private static String answer(String[] columns) {
        List<BrokerMetadata> brokers = new ArrayList<>();
        for (String each : columns[3].split(",")) {
            String[] parts = each.split(":", 2);
            Optional<String> rack = parts[1].isEmpty() ? Optional.empty() : Optional.of(parts[1]);
            brokers.add(new BrokerMetadata(Integer.parseInt(parts[0]), rack));
        }
        int begin = (int) (Long.parseLong(columns[0]) % brokers.size());
        Map<Integer, List<Integer>> found = AdminUtils.assignReplicasToBrokers(
            brokers, Integer.parseInt(columns[1]), Integer.parseInt(columns[2]), begin, 0);
        return new TreeMap<>(found).values().stream()
            .map(each -> each.stream().map(String::valueOf).collect(Collectors.joining(",")))
            .collect(Collectors.joining(";"));
    }
}
