import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

/**
 * Kafka's reader of sasl.jaas.config, one login in base64 a line, one answer a line: its options as
 * key:value in base64, sorted, or "refused". A "=" in the place of a name, which Kafka lets pass, is
 * the name.
 */
public final class JaasTool {
    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(
            new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8)));
    }

    private static String answer(String login) {
        JaasContext context;
        try {
            context = JaasContext.loadClientContext(
                Map.of("sasl.mechanism", "PLAIN", "sasl.jaas.config", new Password(login)));
        } catch (RuntimeException refused) {
            return "refused";
        }
        TreeMap<String, String> sorted = new TreeMap<>();
        context.configurationEntries().get(0).getOptions()
            .forEach((key, value) -> sorted.put(
                text(key == null ? "=" : key), text((String) value)));
        StringBuilder row = new StringBuilder();
        sorted.forEach((key, value) ->
            row.append(row.length() == 0 ? "" : " ").append(key).append(":").append(value));
        return row.length() == 0 ? "none" : row.toString();
    }

    private static String text(String value) {
        return Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_8));
    }
}
