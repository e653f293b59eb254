import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.RawTaggedField;

/**
 * Kafka's own generated message classes behind a line protocol: one request a line on stdin, one
 * answer a line on stdout, columns separated by tabs. tools/oracles/oracle.py is its driver.
 *
 * <pre>
 * json2bytes  name  version  json   ->  ok  hex  json-again
 * bytes2json  name  version  hex    ->  ok  hex-again  json  count-of-bytes-left-over
 * random      name  version  seed   ->  ok  hex  json
 * messages                          ->  ok  [{name, lowest, highest, apiKey, className}]
 * errors                            ->  ok  [{name, code, retriable}]
 * anything that fails               ->  err  exception-class  message
 * </pre>
 *
 * In bytes2json "hex-again" is "-" where Java refuses to write what it has just read (repeated or
 * unordered unknown tags). A bare NaN or Infinity in JSON is read as that number, because Kafka's
 * converters write such numbers as strings, which they themselves refuse to read.
 *
 * The source serves every release from 3.9 on: messages and their definitions are found by looking
 * through the class path, and what moved between releases is reached by reflection.
 */
public final class Oracle {
    private static final JsonMapper JSON = JsonMapper.builder()
        .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
        .enable(JsonParser.Feature.ALLOW_COMMENTS)
        .build();
    private static final HexFormat HEX = HexFormat.of();

    private final Map<String, Kind> kinds;

    private Oracle(Map<String, Kind> kinds) {
        this.kinds = kinds;
    }

    public static void main(String[] args) throws Exception {
        Lines.answer(new Oracle(Kind.onClassPath())::answer);
    }

    /** Never throws, whatever the line: a refusal is an answer. */
    private String answer(String line) {
        try {
            String[] columns = line.split("\t", -1);
            if (columns[0].equals("messages")) {
                return "ok\t" + messages();
            }
            if (columns[0].equals("errors")) {
                return "ok\t" + errors();
            }
            if (columns.length != 4) {
                throw new IllegalArgumentException("4 columns expected, got " + columns.length);
            }
            Kind kind = kinds.get(columns[1]);
            if (kind == null) {
                throw new IllegalArgumentException("no message is called " + columns[1]);
            }
            short version = Short.parseShort(columns[2]);
            kind.check(version);
            switch (columns[0]) {
                case "json2bytes":
                    return json2bytes(kind, version, columns[3]);
                case "bytes2json":
                    return bytes2json(kind, version, columns[3]);
                case "random":
                    return random(kind, version, Long.parseLong(columns[3]));
                default:
                    throw new IllegalArgumentException("no request is called " + columns[0]);
            }
        } catch (Throwable failure) {
            Throwable cause = failure;
            while (cause instanceof InvocationTargetException) {
                cause = cause.getCause();
            }
            return "err\t" + cause.getClass().getSimpleName() + "\t"
                + String.valueOf(cause.getMessage()).replaceAll("[\\t\\r\\n]+", " ");
        }
    }

    private static String errors() {
        ArrayNode rows = JSON.createArrayNode();
        for (Errors error : Errors.values()) {
            rows.addObject().put("name", error.name()).put("code", error.code())
                .put("retriable", error.exception() instanceof RetriableException);
        }
        return rows.toString();
    }

    private static String json2bytes(Kind kind, short version, String json) throws Exception {
        byte[] data = encode(kind.fromJson(JSON.readTree(json), version), version);
        ApiMessage again = kind.decode(new ByteBufferAccessor(ByteBuffer.wrap(data)), version);
        return "ok\t" + HEX.formatHex(data) + "\t" + kind.toJson(again, version);
    }

    private static String bytes2json(Kind kind, short version, String hex) throws Exception {
        ByteBufferAccessor source = new ByteBufferAccessor(ByteBuffer.wrap(HEX.parseHex(hex)));
        ApiMessage value = kind.decode(source, version);
        String again;
        try {
            again = HEX.formatHex(encode(value, version));
        } catch (RuntimeException refused) {
            again = "-";
        }
        return "ok\t" + again + "\t" + kind.toJson(value, version) + "\t" + source.remaining();
    }

    private static String random(Kind kind, short version, long seed) throws Exception {
        ApiMessage value = new Filler(kind, version, seed).message();
        return "ok\t" + HEX.formatHex(encode(value, version)) + "\t" + kind.toJson(value, version);
    }

    private String messages() throws Exception {
        ArrayNode rows = JSON.createArrayNode();
        for (Kind kind : kinds.values()) {
            ApiMessage empty = kind.empty();
            rows.addObject()
                .put("name", kind.name)
                .put("lowest", empty.lowestSupportedVersion())
                .put("highest", empty.highestSupportedVersion())
                .put("apiKey", empty.apiKey())
                .put("className", kind.className);
        }
        return rows.toString();
    }

    private static byte[] encode(ApiMessage value, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer target = ByteBuffer.allocate(value.size(cache, version));
        value.write(new ByteBufferAccessor(target), cache, version);
        if (target.hasRemaining()) {
            throw new IllegalStateException(
                "size() promised " + target.remaining() + " more bytes");
        }
        return target.array();
    }

    /** One generated message class with its JSON converter, both loaded when first asked for. */
    private static final class Kind {
        final String name;
        final String className;
        final JsonNode definition;
        private Class<?> type;
        private Method read;
        private Method write;

        Kind(String name, String className, JsonNode definition) {
            this.name = name;
            this.className = className;
            this.definition = definition;
        }

        /** Every message on the class path by its definition's name, in the order of the names. */
        static Map<String, Kind> onClassPath() throws IOException {
            Map<String, Kind> kinds = new TreeMap<>();
            for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
                if (path.endsWith(".jar")) {
                    try (JarFile jar = new JarFile(path)) {
                        addFrom(jar, kinds);
                    }
                }
            }
            return kinds;
        }

        private static void addFrom(JarFile jar, Map<String, Kind> kinds) throws IOException {
            String suffix = "JsonConverter.class";
            Map<String, JsonNode> definitions = new HashMap<>();
            List<String> classes = new ArrayList<>();
            Enumeration<JarEntry> entries = jar.entries();
            while (entries.hasMoreElements()) {
                JarEntry entry = entries.nextElement();
                String path = entry.getName();
                if (path.endsWith(".json")) { // a file need not be called like its message
                    try (InputStream source = jar.getInputStream(entry)) {
                        JsonNode definition = JSON.readTree(source);
                        definitions.put(definition.path("name").asText(), definition);
                    }
                } else if (path.endsWith(suffix) && path.indexOf('$') < 0) {
                    path = path.substring(0, path.length() - suffix.length());
                    classes.add(path.replace('/', '.'));
                }
            }
            for (String className : classes) {
                String simple = className.substring(className.lastIndexOf('.') + 1);
                // Requests, responses and headers have "Data" behind the name of their definition.
                String name = definitions.containsKey(simple)
                    ? simple : simple.replaceFirst("Data$", "");
                Kind kind = new Kind(name, className, definitions.get(name));
                Kind other = kinds.put(name, kind);
                if (other != null) {
                    throw new IllegalStateException(
                        name + " is both " + className + " and " + other.className);
                }
            }
        }

        Class<?> type() throws ReflectiveOperationException {
            if (type == null) {
                Class<?> converter = Class.forName(className + "JsonConverter");
                Class<?> found = Class.forName(className);
                read = converter.getMethod("read", JsonNode.class, short.class);
                write = converter.getMethod("write", found, short.class);
                type = found;
            }
            return type;
        }

        ApiMessage empty() throws ReflectiveOperationException {
            return (ApiMessage) type().getDeclaredConstructor().newInstance();
        }

        /** The generated readers do not look at the version's range themselves. */
        void check(short version) throws ReflectiveOperationException {
            ApiMessage empty = empty();
            short lowest = empty.lowestSupportedVersion();
            short highest = empty.highestSupportedVersion();
            if (version < lowest || version > highest) {
                throw new UnsupportedVersionException(
                    name + " has versions " + lowest + "-" + highest + ", not " + version);
            }
        }

        ApiMessage decode(ByteBufferAccessor source, short version)
                throws ReflectiveOperationException {
            ApiMessage value = empty();
            value.read(source, version);
            return value;
        }

        ApiMessage fromJson(JsonNode json, short version) throws ReflectiveOperationException {
            return (ApiMessage) read.invoke(null, json, version);
        }

        String toJson(ApiMessage value, short version) throws ReflectiveOperationException {
            return write.invoke(null, value, version).toString();
        }
    }

    /**
     * Fills a message at random with what its definition allows in one version, through the public
     * setters. The same name, version and seed give the same value every time.
     */
    private static final class Filler {
        private static final Map<Class<?>, Map<String, Method>> SETTERS = new HashMap<>();
        private static final int[] CODE_POINTS = {'a', 'Z', '0', ' ', '.', '"', '\\', '\t', '\n', 0,
            0xe9, 0xdf, 0x4e2d, 0xfffd, 0x1f600};
        private static final double[] DOUBLES = {0.0, -0.0, 1.0, -1.5, 0.1, Double.MIN_VALUE,
            Double.MAX_VALUE, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};
        private static final int[] UNKNOWN_TAGS = {100, 127, 128, 16_383, 16_384, 1 << 28};

        private final Kind kind;
        private final short version;
        private final boolean flexible;
        private final Map<String, JsonNode> commonStructs = new HashMap<>();
        private final SplittableRandom random;

        Filler(Kind kind, short version, long seed) {
            this.kind = kind;
            this.version = version;
            this.flexible = within(kind.definition.path("flexibleVersions"));
            for (JsonNode struct : kind.definition.path("commonStructs")) {
                commonStructs.put(struct.get("name").asText(), struct.get("fields"));
            }
            random = new SplittableRandom(seed * 31 + version * 1_000_003L + kind.name.hashCode());
        }

        ApiMessage message() throws Exception {
            return (ApiMessage) struct(kind.type(), kind.definition.get("fields"));
        }

        private Object struct(Class<?> type, JsonNode fields) throws Exception {
            Object value = type.getDeclaredConstructor().newInstance();
            for (JsonNode field : fields) {
                JsonNode tagged = field.path("taggedVersions");
                JsonNode versions = field.has("versions") ? field.get("versions") : tagged;
                boolean left = within(tagged) && random.nextInt(3) == 0;
                if (within(versions) && !left) {
                    Method setter = setter(type, field.get("name").asText());
                    setter.invoke(value, field(field, setter.getParameterTypes()[0]));
                }
            }
            if (flexible && random.nextInt(4) == 0) {
                addUnknownTags(value);
            }
            return value;
        }

        private Object field(JsonNode field, Class<?> container) throws Exception {
            if (within(field.path("nullableVersions")) && random.nextInt(4) == 0) {
                return null;
            }
            String type = field.get("type").asText();
            if (!type.startsWith("[]")) {
                return value(type, field, container);
            }
            @SuppressWarnings("unchecked")
            Collection<Object> items = container.isInterface()
                ? new ArrayList<>()
                : (Collection<Object>) container.getDeclaredConstructor().newInstance();
            for (int count = random.nextInt(4); count > 0; count--) {
                items.add(value(type.substring(2), field, container));
            }
            return items;
        }

        private Object value(String type, JsonNode field, Class<?> container) throws Exception {
            switch (type) {
                case "bool":
                    return random.nextBoolean();
                case "int8":
                    return (byte) integer(Byte.MIN_VALUE, Byte.MAX_VALUE);
                case "int16":
                    return (short) integer(Short.MIN_VALUE, Short.MAX_VALUE);
                case "uint16":
                    return (int) integer(0, 65_535);
                case "int32":
                    return (int) integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
                case "uint32":
                    return integer(0, 4_294_967_295L);
                case "int64":
                    return integer(Long.MIN_VALUE, Long.MAX_VALUE);
                case "float64":
                    return random.nextBoolean()
                        ? DOUBLES[random.nextInt(DOUBLES.length)]
                        : Double.longBitsToDouble(random.nextLong());
                case "uuid":
                    return random.nextInt(4) == 0
                        ? Uuid.ZERO_UUID : new Uuid(random.nextLong(), random.nextLong());
                case "string":
                    return string();
                case "bytes":
                    byte[] bytes = bytes();
                    return field.path("zeroCopy").asBoolean() ? ByteBuffer.wrap(bytes) : bytes;
                case "records":
                    return container.getClassLoader()
                        .loadClass(container.getPackageName() + ".MemoryRecords")
                        .getMethod("readableRecords", ByteBuffer.class)
                        .invoke(null, ByteBuffer.wrap(bytes()));
                default:
                    JsonNode fields = commonStructs.containsKey(type)
                        ? commonStructs.get(type) : field.get("fields");
                    return struct(Class.forName(kind.className + "$" + type), fields);
            }
        }

        private long integer(long lowest, long highest) {
            switch (random.nextInt(8)) {
                case 0:
                    return lowest;
                case 1:
                    return highest;
                case 2:
                    return 0;
                case 3:
                    return Math.max(lowest, -1);
                default: // spread over the magnitudes, not only over the large numbers
                    long value = random.nextLong() >> random.nextInt(64);
                    return value < lowest || value > highest ? value & highest : value;
            }
        }

        private String string() {
            StringBuilder text = new StringBuilder();
            for (int count = length(); count > 0; count--) {
                text.appendCodePoint(CODE_POINTS[random.nextInt(CODE_POINTS.length)]);
            }
            return text.toString();
        }

        private byte[] bytes() {
            byte[] bytes = new byte[length()];
            random.nextBytes(bytes);
            return bytes;
        }

        /** Now and then long enough for a compact length of two bytes. */
        private int length() {
            return random.nextInt(32) == 0 ? 100 + random.nextInt(100) : random.nextInt(9);
        }

        private void addUnknownTags(Object struct) throws ReflectiveOperationException {
            @SuppressWarnings("unchecked")
            List<RawTaggedField> tags = (List<RawTaggedField>)
                struct.getClass().getMethod("unknownTaggedFields").invoke(struct);
            int tag = UNKNOWN_TAGS[random.nextInt(UNKNOWN_TAGS.length)];
            for (int count = 1 + random.nextInt(2); count > 0; count--) {
                tags.add(new RawTaggedField(tag++, bytes()));
            }
        }

        private static Method setter(Class<?> type, String field) {
            String name = "set" + Character.toUpperCase(field.charAt(0)) + field.substring(1);
            Map<String, Method> setters = SETTERS.computeIfAbsent(type, missing -> {
                Map<String, Method> found = new HashMap<>();
                for (Method method : missing.getMethods()) {
                    if (method.getParameterCount() == 1) {
                        found.put(method.getName(), method);
                    }
                }
                return found;
            });
            return setters.get(name);
        }

        /** Whether the version is in a range as definitions write it: "3", "0-2", "1+", "none". */
        private boolean within(JsonNode versions) {
            String range = versions.asText("none");
            if (range.isEmpty() || range.equals("none")) {
                return false;
            }
            if (range.endsWith("+")) {
                return version >= Short.parseShort(range.substring(0, range.length() - 1));
            }
            String[] ends = range.split("-");
            return version >= Short.parseShort(ends[0])
                && version <= Short.parseShort(ends[ends.length - 1]);
        }
    }
}
