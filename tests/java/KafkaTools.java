import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command line classes in one kept process, one call a line, one answer a line:
 *
 * <pre>
 * {"main": class name, "arguments": [...], "input": text}
 *     ->  {"status": number, "stdout": text, "stderr": text}
 * </pre>
 *
 * The exits of the commands are caught; their class is found among the packages that releases have
 * had it in.
 */
public final class KafkaTools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] PACKAGES = {
        "org.apache.kafka.tools.", "org.apache.kafka.tools.consumer.group.",
        "org.apache.kafka.tools.reassign.", "kafka.admin.", "kafka.tools."
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

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        BufferedReader calls = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Switched stdout = new Switched();
        Switched stderr = new Switched();
        System.setOut(new PrintStream(stdout, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(stderr, true, StandardCharsets.UTF_8));
        List<Integer> statuses = new ArrayList<>();
        Exit.Procedure exited = (status, message) -> {
            synchronized (statuses) {
                statuses.add(status);
            }
            throw new Exited();
        };
        Exit.setExitProcedure(exited);
        Exit.setHaltProcedure(exited);
        String line;
        while ((line = calls.readLine()) != null) {
            JsonNode call = JSON.readTree(line);
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
