import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler;

/**
 * Kafka's check of tokens with a signature. A line has the JWKS's URL, audiences with commas and the
 * issuer ("" for none, which is allowed then), the clock's skew, the claims of subject and scopes, and the token, split by
 * tabs; the answer is "=" and the owner's name, or what is wrong.
 */
public final class TokenTool {
    private static final AppConfigurationEntry LOGIN = new AppConfigurationEntry(
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
        AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, Map.of());

    public static void main(String[] args) throws Exception {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        Lines.answer(line -> answer(line.split("\t", -1)).replace('\n', ' '));
    }

    private static String answer(String[] given) {
        System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", given[0]);
        Map<String, Object> configs = new HashMap<>();
        configs.put(SaslConfigs.SASL_OAUTHBEARER_JWT_VALIDATOR_CLASS,
            "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator");
        configs.put(SaslConfigs.SASL_OAUTHBEARER_JWKS_ENDPOINT_URL, given[0]);
        configs.put(SaslConfigs.SASL_OAUTHBEARER_EXPECTED_AUDIENCE,
            given[1].isEmpty() ? List.of() : List.of(given[1].split(",")));
        configs.put(SaslConfigs.SASL_OAUTHBEARER_ALLOW_UNVERIFIED_AUDIENCE, given[1].isEmpty());
        configs.put(SaslConfigs.SASL_OAUTHBEARER_ALLOW_UNVERIFIED_ISSUER, given[2].isEmpty());
        if (!given[2].isEmpty()) {
            configs.put(SaslConfigs.SASL_OAUTHBEARER_EXPECTED_ISSUER, given[2]);
        }
        configs.put(SaslConfigs.SASL_OAUTHBEARER_CLOCK_SKEW_SECONDS, Integer.valueOf(given[3]));
        configs.put(SaslConfigs.SASL_OAUTHBEARER_SUB_CLAIM_NAME, given[4]);
        configs.put(SaslConfigs.SASL_OAUTHBEARER_SCOPE_CLAIM_NAME, given[5]);
        OAuthBearerValidatorCallbackHandler handler = new OAuthBearerValidatorCallbackHandler();
        try {
            handler.configure(configs, "OAUTHBEARER", List.of(LOGIN));
            OAuthBearerValidatorCallback callback = new OAuthBearerValidatorCallback(given[6]);
            handler.handle(new OAuthBearerValidatorCallback[] {callback});
            return callback.token() == null
                ? callback.errorStatus() : "=" + callback.token().principalName();
        } catch (Exception refused) {
            return String.valueOf(refused);
        } finally {
            handler.close();
        }
    }
}
