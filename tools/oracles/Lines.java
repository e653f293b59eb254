import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What programs print line by line: answers to stdin, or how their steps went. */
public final class Lines {
    /** What a program answers to a line, without a line end. */
    public interface Answering {
        String answer(String line) throws Exception;
    }

    private static final long STEP_S = 30;

    private Lines() {
    }

    /** Run a step, and say "ok" or what the brokers refuse, which stops nothing. */
    public static void step(String name, Callable<?> step) {
        String said = "ok";
        try {
            if (step.call() instanceof Future<?> future) {
                future.get(STEP_S, TimeUnit.SECONDS);
            }
        } catch (ExecutionException refused) {
            said = refused.getCause().toString();
        } catch (Exception failed) {
            said = failed.toString();
        }
        System.out.println(name + ": " + said);
    }

    /** Answer until stdin ends. What Kafka prints goes to stderr meanwhile. */
    public static void answer(Answering program) throws Exception {
        try (PrintWriter answers = new PrintWriter(new OutputStreamWriter(
                new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8))) {
            System.setOut(System.err);
            BufferedReader requests = new BufferedReader(
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String line;
            while ((line = requests.readLine()) != null) {
                answers.print(program.answer(line));
                answers.print('\n');
                if (!requests.ready()) {
                    answers.flush();
                }
            }
        }
    }
}
