import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Base64;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Java's reader of .properties, one file in base64 a line, one answer a line: its properties as
 * key=value in hex of UTF-16, sorted, or "refused".
 */
public final class PropertiesTool {
    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(Base64.getDecoder().decode(line)));
    }

    private static String answer(byte[] file) throws IOException {
        Properties properties = new Properties();
        try {
            properties.load(new ByteArrayInputStream(file));
        } catch (IllegalArgumentException refused) {
            return "refused";
        }
        TreeMap<String, String> sorted = new TreeMap<>();
        properties.forEach((key, value) -> sorted.put(hex((String) key), hex((String) value)));
        StringBuilder row = new StringBuilder();
        sorted.forEach((key, value) ->
            row.append(row.length() == 0 ? "" : " ").append(key).append("=").append(value));
        return row.toString();
    }

    private static String hex(String text) {
        StringBuilder units = new StringBuilder();
        for (char unit : text.toCharArray()) {
            units.append(String.format("%04x", (int) unit));
        }
        return units.toString();
    }
}
