import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.function.IntConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.quota.ClientQuotaFilter;

/**
 * Kafka's command line classes in one kept process, one call a line, one answer a line:
 *
 * <pre>
 * {"main": class name, "arguments": [...], "input": text}
 *     ->  {"status": number, "stdout": text, "stderr": text}
 * {"admin": method, "bootstrap": text, "of": [names] or nothing}
 *     ->  {"result": the fields of what the method of Admin returned}
 *      or {"error": name, "message": text}
 * </pre>
 *
 * The exits of the commands are caught; their class is found among the packages that releases have
 * had it in.
 */
public final class KafkaTools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] PACKAGES = {
        "org.apache.kafka.tools.", "org.apache.kafka.tools.consumer.",
        "org.apache.kafka.tools.consumer.group.", "org.apache.kafka.tools.reassign.",
        "org.apache.kafka.tools.streams.", "kafka.admin.", "kafka.tools."
    };

    /** A command has asked to end its process. */
    private static final class Exited extends Error {
        private Exited() {
            super("exit", null, false, false);
        }
    }

    /** Where Scala's Console and System.out write to, whichever call they are part of. */
    private static final class Switched extends OutputStream {
        private ByteArrayOutputStream into = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int one) {
            into.write(one);
        }

        @Override
        public synchronized void write(byte[] some, int from, int count) {
            into.write(some, from, count);
        }

        private synchronized String take() {
            String text = into.toString(StandardCharsets.UTF_8);
            into = new ByteArrayOutputStream();
            return text;
        }
    }

    /** Kafka's class for the end of a process is elsewhere since 4.4. */
    private static void onExit(IntConsumer ended) throws ReflectiveOperationException {
        Class<?> exit;
        try {
            exit = Class.forName("org.apache.kafka.common.utils.internals.Exit");
        } catch (ClassNotFoundException older) {
            exit = Class.forName("org.apache.kafka.common.utils.Exit");
        }
        Class<?> procedure = Class.forName(exit.getName() + "$Procedure");
        Object called = Proxy.newProxyInstance(
            KafkaTools.class.getClassLoader(), new Class<?>[] {procedure},
            (self, method, arguments) -> {
                ended.accept((int) arguments[0]);
                return null;
            });
        for (String name : List.of("setExitProcedure", "setHaltProcedure")) {
            exit.getMethod(name, procedure).invoke(null, called);
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        BufferedReader calls = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Switched stdout = new Switched();
        Switched stderr = new Switched();
        System.setOut(new PrintStream(stdout, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(stderr, true, StandardCharsets.UTF_8));
        List<Integer> statuses = new ArrayList<>();
        onExit(status -> {
            synchronized (statuses) {
                statuses.add(status);
            }
            throw new Exited();
        });
        String line;
        while ((line = calls.readLine()) != null) {
            JsonNode call = JSON.readTree(line);
            if (call.has("admin")) {
                answers.println(JSON.writeValueAsString(AdminAnswers.ask(call)));
                answers.flush();
                continue;
            }
            statuses.clear();
            int status = 0;
            try {
                run(call);
            } catch (Exited caught) {
                // Its status is the first of the list.
            } catch (Throwable thrown) {
                thrown.printStackTrace();
                status = 1;
            }
            ObjectNode answer = JSON.createObjectNode();
            answer.put("status", statuses.isEmpty() ? status : statuses.get(0));
            answer.put("stdout", stdout.take());
            answer.put("stderr", stderr.take());
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
    }

    private static void run(JsonNode call) throws Throwable {
        List<String> arguments = new ArrayList<>();
        call.get("arguments").forEach(each -> arguments.add(each.asText()));
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(
            call.get("input").asText().getBytes(StandardCharsets.UTF_8)));
        try {
            find(call.get("main").asText()).getMethod("main", String[].class)
                .invoke(null, (Object) arguments.toArray(new String[0]));
        } catch (InvocationTargetException wrapped) {
            throw wrapped.getCause();
        } finally {
            System.setIn(before);
        }
    }

    /** What Java's Admin returns, as JSON of the private fields of its classes. */
    private static final class AdminAnswers {
        private static final ObjectMapper FIELDS = new ObjectMapper()
            .setVisibility(PropertyAccessor.ALL, JsonAutoDetect.Visibility.NONE)
            .setVisibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY)
            .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
            .registerModule(new SimpleModule()
                .addSerializer(Uuid.class, ToStringSerializer.instance)
                .addSerializer(Enum.class, new ToStringSerializer(Enum.class))
                .addSerializer(Optional.class, new StdSerializer<>(Optional.class) {
                    @Override
                    public void serialize(
                            Optional value, JsonGenerator to, SerializerProvider with)
                            throws IOException {
                        with.defaultSerializeValue(value.orElse(null), to);
                    }
                })
                .addSerializer(OptionalLong.class, new StdSerializer<>(OptionalLong.class) {
                    @Override
                    public void serialize(
                            OptionalLong value, JsonGenerator to, SerializerProvider with)
                            throws IOException {
                        with.defaultSerializeValue(
                            value.isPresent() ? value.getAsLong() : null, to);
                    }
                }));

        private static ObjectNode ask(JsonNode call) {
            ObjectNode answer = JSON.createObjectNode();
            List<String> of = new ArrayList<>();
            call.get("of").forEach(each -> of.add(each.asText()));
            try (Admin admin = Admin.create(
                    Map.of("bootstrap.servers", call.get("bootstrap").asText()))) {
                answer.set("result", FIELDS.valueToTree(asked(admin, call.get("admin").asText(), of)));
            } catch (ExecutionException failed) {
                String name = Errors.forException(failed.getCause()).name();
                answer.put("error", name).put("message", failed.getCause().getMessage());
            } catch (Exception failed) {
                answer.put("error", failed.getClass().getSimpleName());
                answer.put("message", failed.getMessage());
            }
            return answer;
        }

        private static Object asked(Admin admin, String method, List<String> of) throws Exception {
            return switch (method) {
                case "listTopics" -> admin.listTopics(
                    new ListTopicsOptions().listInternal(true)).listings().get();
                case "describeTopics" -> admin.describeTopics(of).allTopicNames().get();
                case "describeCluster" -> nodes(admin.describeCluster());
                case "describeConfigs" -> rows(admin.describeConfigs(resources(of)).all().get());
                case "describeLogDirs" -> admin.describeLogDirs(numbers(of)).allDescriptions().get();
                case "listPartitionReassignments" ->
                    admin.listPartitionReassignments().reassignments().get();
                case "describeFeatures" -> admin.describeFeatures().featureMetadata().get();
                case "describeMetadataQuorum" ->
                    admin.describeMetadataQuorum().quorumInfo().get();
                case "listGroups" -> listedGroups(admin);
                case "describeConsumerGroups" -> admin.describeConsumerGroups(of).all().get();
                case "listConsumerGroupOffsets" ->
                    admin.listConsumerGroupOffsets(of.get(0)).partitionsToOffsetAndMetadata().get();
                case "describeAcls" -> admin.describeAcls(AclBindingFilter.ANY).values().get();
                case "describeClientQuotas" -> rows(
                    admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get());
                case "describeUserScramCredentials" ->
                    admin.describeUserScramCredentials(of).all().get();
                case "listTransactions" -> admin.listTransactions().all().get();
                default -> throw new IllegalArgumentException("no call of Admin: " + method);
            };
        }

        /** Found by its name: Admin has it since 4.1, and this is compiled for 3.9 too. */
        private static Object listedGroups(Admin admin) throws Exception {
            Object result = Admin.class.getMethod("listGroups").invoke(admin);
            return ((KafkaFuture<?>) result.getClass().getMethod("all").invoke(result)).get();
        }

        private static Object nodes(DescribeClusterResult result) throws Exception {
            Map<String, Object> found = new HashMap<>();
            found.put("clusterId", result.clusterId().get());
            found.put("controller", result.controller().get());
            found.put("nodes", result.nodes().get());
            return found;
        }

        /** Maps whose keys are structures, as lists of pairs. */
        private static List<Object> rows(Map<?, ?> map) {
            List<Object> found = new ArrayList<>();
            map.forEach((key, value) -> found.add(Map.of("key", key, "value", value)));
            return found;
        }

        private static List<ConfigResource> resources(List<String> of) {
            List<ConfigResource> found = new ArrayList<>();
            for (String each : of) {
                String[] parts = each.split(":", 2);
                found.add(new ConfigResource(ConfigResource.Type.valueOf(parts[0]), parts[1]));
            }
            return found;
        }

        private static List<Integer> numbers(List<String> of) {
            return of.stream().map(Integer::valueOf).toList();
        }
    }

    private static Class<?> find(String name) throws ClassNotFoundException {
        for (String each : PACKAGES) {
            try {
                return Class.forName(each + name);
            } catch (ClassNotFoundException elsewhere) {
                // The next package may have it.
            }
        }
        throw new ClassNotFoundException(name);
    }
}
