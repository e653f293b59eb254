import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.TargetAssignmentBuilder.ConsumerTargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.ResolvedRegularExpression;
import org.apache.kafka.coordinator.group.util.UpdatedMembersAndTargetAssignmentView;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * A group of Kafka's coordinator, changed and asked for its targets line by line. "-" stands for
 * nothing, and names and topics are separated by commas:
 *
 * group                                begins another group, of no topics
 * topic ID NAME COUNT                  makes a topic, or gives it partitions
 * regex REGEX TOPICS                   the topics of a regular expression
 * put ID INSTANCE ASSIGNOR REGEX TOPICS    adds or changes a member
 * remove ID                            removes a member
 * assign ID INSTANCE ASSIGNOR REGEX TOPICS  changes a member and makes a target
 * refresh ID INSTANCE ASSIGNOR REGEX TOPICS  the same, with the kind of the subscriptions before
 *
 * The answer to the last two is the assignor before, the assignor, the kind of the subscriptions, and
 * "ID:TOPIC=0+1,TOPIC=2" of each member that has partitions; of others it is an empty line.
 */
public final class GroupTargets {
    private static ConsumerGroup group;
    private static Map<Uuid, CoordinatorMetadataImage.TopicMetadata> topics;

    private record Topic(Uuid id, String name, int partitionCount)
        implements CoordinatorMetadataImage.TopicMetadata {
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }

    private static final CoordinatorMetadataImage IMAGE = new CoordinatorMetadataImage() {
        public Set<Uuid> topicIds() {
            return topics.keySet();
        }

        public Set<String> topicNames() {
            throw new UnsupportedOperationException();
        }

        public Optional<TopicMetadata> topicMetadata(String name) {
            return topics.values().stream().filter(each -> each.name().equals(name)).findFirst();
        }

        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.ofNullable(topics.get(id));
        }

        public CoordinatorMetadataDelta emptyDelta() {
            throw new UnsupportedOperationException();
        }

        public long version() {
            return 0;
        }

        public boolean isEmpty() {
            return false;
        }
    };

    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answered(line.split(" ")));
    }

    private static String answered(String[] words) {
        switch (words[0]) {
            case "group" -> {
                group = new ConsumerGroup(
                    new LogContext(), new SnapshotRegistry(new LogContext()), "group");
                topics = new HashMap<>();
            }
            case "topic" -> {
                Uuid id = Uuid.fromString(words[1]);
                topics.put(id, new Topic(id, words[2], Integer.parseInt(words[3])));
            }
            case "regex" -> group.updateResolvedRegularExpression(
                words[1], new ResolvedRegularExpression(new HashSet<>(list(words[2])), 0, 0));
            case "put" -> put(member(words));
            case "remove" -> remove(words[1]);
            case "assign", "refresh" -> {
                return assigned(member(words), words[0].equals("refresh"));
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "";
    }

    private static List<String> list(String word) {
        return word.equals("-") ? List.of() : Arrays.asList(word.split(","));
    }

    private static ConsumerGroupMember member(String[] words) {
        return new ConsumerGroupMember.Builder(words[1])
            .setInstanceId(words[2].equals("-") ? null : words[2])
            .setServerAssignorName(words[3].equals("-") ? null : words[3])
            .setSubscribedTopicRegex(words[4].equals("-") ? "" : words[4])
            .setSubscribedTopicNames(list(words[5]))
            .build();
    }

    /** As the two records of a member do: what it subscribes, and what it has. */
    private static void put(ConsumerGroupMember member) {
        group.updateMember(member);
        group.updateMember(new ConsumerGroupMember.Builder(member).build());
    }

    private static void remove(String id) {
        group.removeTargetAssignment(id);
        group.removeMember(id);
    }

    /** As GroupMetadataManager.maybeUpdateTargetAssignment, and as its records are replayed. */
    private static String assigned(ConsumerGroupMember updated, boolean isOld) {
        ConsumerGroupMember replaced = group.staticMember(updated.instanceId());
        if (replaced != null && replaced.memberId().equals(updated.memberId())) {
            replaced = null;
        }
        ConsumerGroupMember before = replaced;
        if (before == null) {
            before = group.getOrMaybeCreateMember(updated.memberId(), true);
        }
        int size = group.numMembers();
        if (!group.hasMember(updated.memberId()) && !group.hasStaticMember(updated.instanceId())) {
            size++;
        }
        SubscriptionType type = isOld ? group.subscriptionType() : ConsumerGroup.subscriptionType(
            group.computeSubscribedRegularExpressions(before, updated),
            group.computeSubscribedTopicNames(before, updated),
            size);
        String old = group.preferredServerAssignor().orElse("uniform");
        String name = group.computePreferredServerAssignor(before, updated).orElse("uniform");
        ConsumerGroupPartitionAssignor assignor =
            name.equals("range") ? new RangeAssignor() : new UniformAssignor();
        var view = new UpdatedMembersAndTargetAssignmentView<>(group.members(),
            group.staticMembers(), group.targetAssignment(), ConsumerGroupMember::instanceId);
        view.addOrUpdateMember(updated.memberId(), updated);
        var result = new ConsumerTargetAssignmentBuilder("group", 1, assignor)
            .withTime(Time.SYSTEM)
            .withMembers(view.members())
            .withSubscriptionType(type)
            .withTargetAssignment(view.targetAssignment())
            .withInvertedTargetAssignment(group.invertedTargetAssignment())
            .withMetadataImage(IMAGE)
            .withResolvedRegularExpressions(group.resolvedRegularExpressions())
            .build();
        if (replaced != null) {
            Assignment copy = group.targetAssignment(replaced.memberId());
            remove(replaced.memberId());
            group.updateMember(updated);
            group.updateTargetAssignment(updated.memberId(), copy);
        }
        put(updated);
        result.records().forEach(GroupTargets::replay);
        StringBuilder answer = new StringBuilder(
            String.join(" ", old, name, type.name()));
        new TreeMap<>(result.targetAssignment()).forEach((id, member) -> {
            Map<String, String> texts = new TreeMap<>();
            member.partitions().forEach((topic, numbers) -> {
                if (!numbers.isEmpty()) {
                    texts.put(topic.toString(), String.join("+",
                        new TreeSet<>(numbers).stream().map(String::valueOf).toList()));
                }
            });
            if (!texts.isEmpty()) {
                answer.append(" ").append(id).append(":").append(String.join(",",
                    texts.entrySet().stream().map(each -> each.getKey() + "=" + each.getValue())
                        .toList()));
            }
        });
        return answer.toString();
    }

    private static void replay(CoordinatorRecord record) {
        if (record.key() instanceof ConsumerGroupTargetAssignmentMemberKey key) {
            var value = (ConsumerGroupTargetAssignmentMemberValue) record.value().message();
            group.updateTargetAssignment(key.memberId(), Assignment.fromRecord(value));
        }
    }
}
