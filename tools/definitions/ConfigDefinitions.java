import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;

/**
 * The configs of topics, brokers, groups and client metrics that the release on the class path
 * defines, as one JSON object: kind to a list in the order in which Kafka checks them. Its
 * features stand beside them.
 */
public final class ConfigDefinitions {
    public static void main(String[] none) throws Exception {
        Map<String, Object> kinds = new LinkedHashMap<>();
        Object schema = call("kafka.server.KafkaRaftServer", "configSchema");
        @SuppressWarnings("unchecked")
        Map<ConfigResource.Type, ConfigDef> definitions =
            (Map<ConfigResource.Type, ConfigDef>) read(schema, "configDefs");
        kinds.put("topic", listed(definitions.get(ConfigResource.Type.TOPIC), topicSynonyms(), Map.of()));
        ConfigDef broker = definitions.get(ConfigResource.Type.BROKER);
        kinds.put("broker", listed(broker, brokerSynonyms(broker), updateModes()));
        kinds.put("broker_quotas", listed(brokerQuotas(), Map.of(), updateModes()));
        kinds.put("group", listed(groups(), Map.of(), Map.of()));
        kinds.put("client_metrics", listed(clientMetrics(), Map.of(), Map.of()));
        kinds.put("features", features());
        ObjectMapper json = new ObjectMapper();
        System.out.println(json.writeValueAsString(kinds));
    }

    private static List<Object> listed(
        ConfigDef definition, Map<String, Object> synonyms, Map<String, String> modes
    ) throws Exception {
        List<Object> configs = new ArrayList<>();
        for (ConfigDef.ConfigKey key : definition.configKeys().values()) {
            Map<String, Object> config = new LinkedHashMap<>();
            config.put("name", key.name);
            config.put("type", key.type.name());
            if (key.hasDefault()) {
                config.put("default", ConfigDef.convertToString(key.defaultValue, key.type));
            } else {
                config.put("required", true);
            }
            if (key.validator != null) {
                config.put("validator", validator(key.validator));
            }
            if (key.internalConfig) {
                config.put("internal", true);
            }
            if (synonyms.containsKey(key.name)) {
                config.put("synonyms", synonyms.get(key.name));
            }
            if (modes.containsKey(key.name)) {
                config.put("update", modes.get(key.name));
            }
            configs.add(config);
        }
        return configs;
    }

    /** What a validator checks; one that is code of its own shows its class and its text. */
    private static Map<String, Object> validator(Object validator) throws Exception {
        Map<String, Object> shown = new TreeMap<>();
        String kind = validator.getClass().getSimpleName();
        shown.put("kind", kind);
        switch (kind) {
            case "Range":
                put(shown, "min", read(validator, "min"));
                put(shown, "max", read(validator, "max"));
                break;
            case "ValidString":
                shown.put("values", read(validator, "validStrings"));
                break;
            case "ValidList":
                shown.put("values", read(read(validator, "validString"), "validStrings"));
                for (Field field : validator.getClass().getDeclaredFields()) {
                    if (field.getType() == boolean.class) {
                        field.setAccessible(true);
                        shown.put(field.getName(), field.get(validator));
                    }
                }
                break;
            case "CaseInsensitiveValidString":
                shown.put("values", new java.util.TreeSet<>(
                    (java.util.Collection<?>) read(validator, "validStrings")));
                break;
            case "CompositeValidator":
                List<Object> parts = new ArrayList<>();
                for (Object part : (List<?>) read(validator, "validators")) {
                    parts.add(validator(part));
                }
                shown.put("validators", parts);
                break;
            default:
                String text = validator.toString();
                if (!text.contains("@")) {
                    shown.put("text", text);
                }
        }
        return shown;
    }

    private static void put(Map<String, Object> map, String name, Object value) {
        if (value != null) {
            map.put(name, value);
        }
    }

    /** Topic config to the broker's configs that it falls back to, first come first served. */
    private static Map<String, Object> topicSynonyms() throws Exception {
        Map<?, ?> all = (Map<?, ?>) Class.forName("org.apache.kafka.server.config.ServerTopicConfigSynonyms")
            .getField("ALL_TOPIC_CONFIG_SYNONYMS").get(null);
        Map<String, Object> found = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : all.entrySet()) {
            List<String> names = new ArrayList<>();
            for (Object synonym : (List<?>) entry.getValue()) {
                names.add((String) synonym.getClass().getMethod("name").invoke(synonym));
            }
            found.put((String) entry.getKey(), names);
        }
        return found;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> updateModes() throws Exception {
        return (Map<String, String>) dynamic("dynamicConfigUpdateModes");
    }

    /** The names under which a broker's config may be given, the one that counts most first. */
    private static Map<String, Object> brokerSynonyms(ConfigDef definition) throws Exception {
        Map<String, Object> found = new LinkedHashMap<>();
        for (String name : definition.configKeys().keySet()) {
            List<String> names = new ArrayList<>();
            Object answer = dynamic("brokerConfigSynonyms", name, true);
            if (answer instanceof Iterable) {
                ((Iterable<?>) answer).forEach(each -> names.add((String) each));
            } else {
                int size = (int) answer.getClass().getMethod("size").invoke(answer);
                Method apply = answer.getClass().getMethod("apply", int.class);
                for (int i = 0; i < size; i++) {
                    names.add((String) apply.invoke(answer, i));
                }
            }
            if (!names.equals(List.of(name))) {
                found.put(name, names);
            }
        }
        return found;
    }

    /** Calls what is a static method in 4.x and one of a Scala object before. */
    private static Object dynamic(String method, Object... arguments) throws Exception {
        Class<?> owner;
        Object target = null;
        try {
            owner = Class.forName("org.apache.kafka.server.config.DynamicBrokerConfig");
            owner.getMethod("dynamicConfigUpdateModes");
        } catch (ClassNotFoundException | NoSuchMethodException e) {
            owner = Class.forName("kafka.server.DynamicBrokerConfig$");
            target = owner.getField("MODULE$").get(null);
        }
        for (Method each : owner.getMethods()) {
            if (each.getName().equals(method)) {
                return each.invoke(target, arguments);
            }
        }
        throw new NoSuchMethodException(owner + "." + method);
    }

    /** Each feature with the levels that a node supports, and the one of a new cluster. */
    private static List<Object> features() throws Exception {
        Class<?> quorum = Class.forName("org.apache.kafka.controller.QuorumFeatures");
        Method supported;
        try {
            supported = quorum.getMethod("defaultSupportedFeatureMap", boolean.class);
        } catch (NoSuchMethodException e) {
            supported = quorum.getMethod("defaultFeatureMap", boolean.class);
        }
        Map<?, ?> ranges = (Map<?, ?>) supported.invoke(null, false);
        Class<?> versions = Class.forName("org.apache.kafka.server.common.MetadataVersion");
        Object newest = versions.getMethod("latestProduction").invoke(null);
        Map<Object, Object> levels = new LinkedHashMap<>();
        levels.put("metadata.version", versions.getMethod("featureLevel").invoke(newest));
        Class<?> kinds;
        try {
            kinds = Class.forName("org.apache.kafka.server.common.Feature");
        } catch (ClassNotFoundException e) {
            kinds = Class.forName("org.apache.kafka.server.common.Features");
        }
        for (Object feature : kinds.getEnumConstants()) {
            for (Method each : kinds.getMethods()) {
                if (List.of("defaultLevel", "defaultValue").contains(each.getName())) {
                    levels.put(kinds.getMethod("featureName").invoke(feature), each.invoke(feature, newest));
                }
            }
        }
        List<Object> found = new ArrayList<>();
        for (Map.Entry<?, ?> entry : new TreeMap<>(ranges).entrySet()) {
            Map<String, Object> feature = new LinkedHashMap<>();
            Class<?> range = entry.getValue().getClass();
            feature.put("name", entry.getKey());
            feature.put("min", range.getMethod("min").invoke(entry.getValue()));
            feature.put("max", range.getMethod("max").invoke(entry.getValue()));
            feature.put("default", levels.getOrDefault(entry.getKey(), (short) 0));
            found.add(feature);
        }
        return found;
    }

    private static ConfigDef brokerQuotas() throws Exception {
        try {
            return (ConfigDef) call("org.apache.kafka.server.config.QuotaConfig", "brokerQuotaConfigs");
        } catch (ClassNotFoundException e) {
            return (ConfigDef) call("org.apache.kafka.server.config.QuotaConfigs", "brokerQuotaConfigs");
        }
    }

    private static ConfigDef groups() throws Exception {
        try {
            return (ConfigDef) call("org.apache.kafka.coordinator.group.GroupConfig", "configDef");
        } catch (ClassNotFoundException | NoSuchMethodException e) {
            return definition("org.apache.kafka.coordinator.group.GroupConfig");
        }
    }

    private static ConfigDef clientMetrics() throws Exception {
        try {
            return (ConfigDef) call("org.apache.kafka.server.metrics.ClientMetricsConfigs", "configDef");
        } catch (NoSuchMethodException e) {
            return definition("org.apache.kafka.server.metrics.ClientMetricsConfigs");
        }
    }

    /** The static field of a class that is a definition; an empty one where there is no class. */
    private static ConfigDef definition(String name) throws Exception {
        try {
            for (Field field : Class.forName(name).getDeclaredFields()) {
                if (field.getType() == ConfigDef.class) {
                    field.setAccessible(true);
                    return (ConfigDef) field.get(null);
                }
            }
        } catch (ClassNotFoundException e) {
            return new ConfigDef();
        }
        throw new IllegalStateException(name + " has no ConfigDef");
    }

    private static Object call(String name, String method) throws Exception {
        Method found = Class.forName(name).getMethod(method);
        return found.invoke(null);
    }

    private static Object read(Object from, String name) throws Exception {
        Field field = from.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(from);
    }
}
