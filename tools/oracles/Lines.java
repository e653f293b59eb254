import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** The Java side of line_program.py: a line of stdout for each line of stdin, and nothing else. */
public final class Lines {
    /** What a program answers to a line, without a line end. */
    public interface Answering {
        String answer(String line) throws Exception;
    }

    private Lines() {
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
