import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * StandardAuthorizer, a set of ACLs and questions a line, one answer a line:
 *
 * <pre>
 * {"configs": {name: value},
 *  "acls": [[resource type, name, pattern type, principal, host, operation, permission], ...],
 *  "questions": [[principal, host, operation, resource type, name], ...]}
 *     ->  a 1 for each question that is allowed, a 0 for another one
 * </pre>
 *
 * Types and operations are the codes of the wire.
 */
public final class AuthorizerTool {
    private static final ObjectMapper JSON = new ObjectMapper();

    private record Asked(String name, String host) implements AuthorizableRequestContext {
        @Override
        public KafkaPrincipal principal() {
            String[] parts = name.split(":", 2);
            return new KafkaPrincipal(parts[0], parts[1]);
        }

        @Override
        public InetAddress clientAddress() {
            try {
                return InetAddress.getByName(host);
            } catch (java.net.UnknownHostException unknown) {
                throw new IllegalArgumentException(unknown);
            }
        }

        @Override
        public String listenerName() {
            return "PLAINTEXT";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public int requestType() {
            return 3;
        }

        @Override
        public int requestVersion() {
            return 12;
        }

        @Override
        public String clientId() {
            return "client";
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }

    public static void main(String[] args) throws Exception {
        Lines.answer(line -> answer(JSON.readTree(line)));
    }

    private static String answer(JsonNode asked) throws Exception {
        StandardAuthorizer authorizer = new StandardAuthorizer();
        authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        Map<String, String> configs = new HashMap<>(Map.of("node.id", "1"));
        asked.get("configs").properties()
            .forEach(each -> configs.put(each.getKey(), each.getValue().asText()));
        authorizer.configure(configs);
        Map<Uuid, StandardAcl> acls = new HashMap<>();
        for (JsonNode each : asked.get("acls")) {
            acls.put(Uuid.randomUuid(), new StandardAcl(
                ResourceType.fromCode((byte) each.get(0).asInt()),
                each.get(1).asText(),
                PatternType.fromCode((byte) each.get(2).asInt()),
                each.get(3).asText(),
                each.get(4).asText(),
                AclOperation.fromCode((byte) each.get(5).asInt()),
                AclPermissionType.fromCode((byte) each.get(6).asInt())));
        }
        authorizer.loadSnapshot(acls);
        authorizer.completeInitialLoad();
        StringBuilder answers = new StringBuilder();
        for (JsonNode each : asked.get("questions")) {
            ResourcePattern resource = new ResourcePattern(
                ResourceType.fromCode((byte) each.get(3).asInt()),
                each.get(4).asText(),
                PatternType.LITERAL);
            AclOperation operation = AclOperation.fromCode((byte) each.get(2).asInt());
            List<Action> actions = new ArrayList<>();
            actions.add(new Action(operation, resource, 1, false, false));
            Asked who = new Asked(each.get(0).asText(), each.get(1).asText());
            AuthorizationResult result = authorizer.authorize(who, actions).get(0);
            answers.append(result == AuthorizationResult.ALLOWED ? '1' : '0');
        }
        return answers.toString();
    }
}
