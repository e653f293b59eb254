import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.coordinator.group.api.streams.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;

/**
 * What Kafka's assignor of streams groups gives to the members of each line. A line has parts that
 * are separated by blanks, "-" stands for none:
 *
 * REPLICAS ID=COUNT[s],... MEMBER:PROCESS:ACTIVE:STANDBY:OFFSETS ...
 *
 * A subtopology with state has an "s"; tasks are ID_NUMBER, offsets ID_NUMBER=OFFSET, separated by
 * commas. The answer has MEMBER:ACTIVE:STANDBY of each member, in order.
 */
public final class StreamsTargets {
    public static void main(String[] arguments) throws Exception {
        var input = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            System.out.println(assigned(line.split(" ")));
            System.out.flush();
        }
    }

    private static String assigned(String[] parts) {
        Map<String, String> subtopologies = new TreeMap<>();
        for (String each : parts[1].split(",")) {
            subtopologies.put(each.split("=")[0], each.split("=")[1]);
        }
        TopologyDescriber topology = new TopologyDescriber() {
            public List<String> subtopologies() {
                return List.copyOf(subtopologies.keySet());
            }

            public int maxNumInputPartitions(String id) {
                return Integer.parseInt(subtopologies.get(id).replace("s", ""));
            }

            public boolean isStateful(String id) {
                return subtopologies.get(id).endsWith("s");
            }
        };
        Map<String, MemberMetadataAndStateImpl> members = new HashMap<>();
        for (String each : Arrays.asList(parts).subList(2, parts.length)) {
            String[] of = each.split(":");
            members.put(of[0], new MemberMetadataAndStateImpl(
                Optional.empty(), Optional.empty(), of[1], Map.of(), tasks(of[2]), tasks(of[3]),
                Map.of(), offsets(of[4]), Map.of()));
        }
        var configs = new AssignmentConfigsImpl(Integer.parseInt(parts[0]), List.of());
        var found = new StickyTaskAssignor().assign(new GroupSpecImpl(members, configs), topology);
        return new TreeMap<>(found.members()).entrySet().stream()
            .map(each -> each.getKey() + ":" + text(each.getValue()))
            .collect(Collectors.joining(" "));
    }

    private static Map<String, Set<Integer>> tasks(String text) {
        Map<String, Set<Integer>> found = new HashMap<>();
        for (String each : text.equals("-") ? new String[0] : text.split(",")) {
            String[] task = each.split("_");
            found.computeIfAbsent(task[0], __ -> new HashSet<>()).add(Integer.valueOf(task[1]));
        }
        return found;
    }

    private static Map<String, Map<Integer, Long>> offsets(String text) {
        Map<String, Map<Integer, Long>> found = new HashMap<>();
        for (String each : text.equals("-") ? new String[0] : text.split(",")) {
            String[] task = each.split("[_=]");
            found.computeIfAbsent(task[0], __ -> new HashMap<>())
                .put(Integer.valueOf(task[1]), Long.valueOf(task[2]));
        }
        return found;
    }

    private static String text(MemberAssignment assignment) {
        return text(assignment.activeTasks()) + ":" + text(assignment.standbyTasks());
    }

    private static String text(Map<String, Set<Integer>> tasks) {
        String found = new TreeMap<>(tasks).entrySet().stream()
            .flatMap(each -> new TreeSet<>(each.getValue()).stream()
                .map(number -> each.getKey() + "_" + number))
            .collect(Collectors.joining(","));
        return found.isEmpty() ? "-" : found;
    }
}
