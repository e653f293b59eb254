import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.scram.ScramCredentialCallback;
import org.apache.kafka.common.security.scram.internals.ScramFormatter;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.scram.internals.ScramSaslClient;
import org.apache.kafka.common.security.scram.internals.ScramSaslServer;

/**
 * Kafka's own two ends of SCRAM, one request a line, words in base64 but for the first:
 * "server MECHANISM PASSWORD SALT ITERATIONS" starts a server whose users all have that password
 * and answers with its two keys, "client MECHANISM USER PASSWORD" a client and answers with its
 * first token. "to-server TOKEN" and "to-client TOKEN" answer with "more" or "done", the next
 * token, and the user that a server is done with; or "refused".
 */
public final class ScramTool {
    private static SaslServer server;
    private static SaslClient client;

    public static void main(String[] args) throws Exception {
        Lines.answer(ScramTool::answered);
    }

    private static String answered(String line) throws Exception {
        String[] words = line.split(" ", -1);
        byte[][] values = new byte[words.length][];
        for (int i = 1; i < words.length; i++) {
            values[i] = Base64.getDecoder().decode(words[i]);
        }
        try {
            return answer(words[0], values);
        } catch (SaslException | SaslAuthenticationException refused) {
            return "refused";
        }
    }

    private static String answer(String verb, byte[][] values) throws Exception {
        switch (verb) {
            case "server":
                return startServer(mechanism(values[1]), text(values[2]), values[3],
                    Integer.parseInt(text(values[4])));
            case "client":
                return startClient(mechanism(values[1]), text(values[2]), text(values[3]));
            case "to-server":
                byte[] challenge = server.evaluateResponse(values[1]);
                return state(server.isComplete(), challenge)
                    + (server.isComplete() ? " " + base64(bytes(server.getAuthorizationID())) : "");
            default:
                byte[] token = client.evaluateChallenge(values[1]);
                return state(client.isComplete(), token == null ? new byte[0] : token);
        }
    }

    private static String startServer(
            ScramMechanism mechanism, String password, byte[] salt, int iterations) throws Exception {
        ScramFormatter formatter = new ScramFormatter(mechanism);
        byte[] salted = formatter.saltedPassword(password, salt, iterations);
        ScramCredential credential = formatter.generateCredential(salt, salted, iterations);
        server = new ScramSaslServer(mechanism, Map.of(), callbacks -> {
            for (Callback callback : callbacks) {
                if (callback instanceof ScramCredentialCallback) {
                    ((ScramCredentialCallback) callback).scramCredential(credential);
                }
            }
        });
        return base64(credential.storedKey()) + " " + base64(credential.serverKey());
    }

    private static String startClient(
            ScramMechanism mechanism, String user, String password) throws Exception {
        client = new ScramSaslClient(mechanism, callbacks -> {
            for (Callback callback : callbacks) {
                if (callback instanceof NameCallback) {
                    ((NameCallback) callback).setName(user);
                } else if (callback instanceof PasswordCallback) {
                    ((PasswordCallback) callback).setPassword(password.toCharArray());
                }
            }
        });
        return state(false, client.evaluateChallenge(new byte[0]));
    }

    private static String state(boolean done, byte[] token) {
        return (done ? "done " : "more ") + base64(token);
    }

    private static ScramMechanism mechanism(byte[] name) {
        return ScramMechanism.forMechanismName(text(name));
    }

    private static String text(byte[] value) {
        return new String(value, StandardCharsets.UTF_8);
    }

    private static byte[] bytes(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }

    private static String base64(byte[] value) {
        return Base64.getEncoder().encodeToString(value);
    }
}
