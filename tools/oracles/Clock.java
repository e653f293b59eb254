import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that a program sets: it stands still otherwise, and nothing waits by it. */
public final class Clock implements Time {
    public long now;

    public long milliseconds() {
        return now;
    }

    public long nanoseconds() {
        return now * 1_000_000;
    }

    public void sleep(long ms) {
    }

    public void waitObject(Object o, Supplier<Boolean> condition, long deadlineMs) {
    }
}
