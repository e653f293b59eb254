import java.nio.charset.StandardCharsets;
import java.util.Base64;
import javax.security.auth.x500.X500Principal;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/**
 * Names of certificates, one request a line, words in base64: "DER" of a name answers with the text
 * that Kafka has for it, "RULES NAME" with what ssl.principal.mapping.rules make of it. What is
 * refused answers with "!".
 */
public final class PrincipalTool {
    public static void main(String[] args) throws Exception {
        Lines.answer(PrincipalTool::answer);
    }

    private static String answer(String line) throws Exception {
        String[] words = line.split(" ", -1);
        try {
            String found = words.length == 1
                ? new X500Principal(Base64.getDecoder().decode(words[0])).getName()
                : SslPrincipalMapper.fromRules(text(words[0])).getName(text(words[1]));
            return Base64.getEncoder().encodeToString(found.getBytes(StandardCharsets.UTF_8));
        } catch (Exception refused) {
            return "!";
        }
    }

    private static String text(String word) {
        return new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8);
    }
}
