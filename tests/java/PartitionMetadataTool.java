import java.io.File;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.storage.internals.checkpoint.PartitionMetadata;
import org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;

/**
 * Kafka's own reader and writer of partition.metadata, one request a line, one answer a line:
 *
 * <pre>
 * write  folder  id  ->  ok
 * read   folder      ->  ok  version  id
 * what it refuses    ->  err  exception-class
 * </pre>
 */
public final class PartitionMetadataTool {
    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(line.split("\t")));
    }

    private static String answer(String[] columns) {
        File file = PartitionMetadataFile.newFile(new File(columns[1]));
        PartitionMetadataFile metadata =
            new PartitionMetadataFile(file, new LogDirFailureChannel(1000));
        try {
            if (columns[0].equals("write")) {
                metadata.record(Uuid.fromString(columns[2]));
                metadata.maybeFlush();
                return "ok";
            }
            PartitionMetadata found = metadata.read();
            return "ok\t" + found.version() + "\t" + found.topicId();
        } catch (RuntimeException refused) {
            return "err\t" + refused.getClass().getSimpleName();
        }
    }
}
