import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;

/**
 * The placer of KRaft controllers, one request a line, one answer a line, columns between tabs:
 *
 * <pre>
 * seed  partitions  replication-factor  broker:rack,broker:,...  ->  1,2,3;2,3,1;...
 * </pre>
 */
public final class PlacementTool {
    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(line.split("\t")));
    }

    private static String answer(String[] columns) {
        List<UsableBroker> brokers = new ArrayList<>();
        for (String each : columns[3].split(",")) {
            String[] parts = each.split(":", 2);
            Optional<String> rack = parts[1].isEmpty() ? Optional.empty() : Optional.of(parts[1]);
            brokers.add(new UsableBroker(Integer.parseInt(parts[0]), rack, false));
        }
        ClusterDescriber cluster = new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int broker) {
                return Uuid.ZERO_UUID;
            }
        };
        PlacementSpec wanted = new PlacementSpec(
            0, Integer.parseInt(columns[1]), Short.parseShort(columns[2]));
        return new StripedReplicaPlacer(new Random(Long.parseLong(columns[0])))
            .place(wanted, cluster).assignments().stream()
            .map(PartitionAssignment::replicas)
            .map(each -> each.stream().map(String::valueOf).collect(Collectors.joining(",")))
            .collect(Collectors.joining(";"));
    }
}
