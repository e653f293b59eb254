import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * For each jar of kafka-clients: its name, then every api with versions that are stable there:
 * id, oldest and newest stable version, and whether it needs the right ClusterAction.
 */
public final class ReleaseApis {
    public static void main(String[] jars) throws Exception {
        for (String jar : jars) {
            System.out.println(new File(jar).getName());
            URL[] urls = {new File(jar).toURI().toURL()};
            try (URLClassLoader loader = new URLClassLoader(urls)) {
                Class<?> keys = loader.loadClass("org.apache.kafka.common.protocol.ApiKeys");
                for (Object api : keys.getEnumConstants()) {
                    short oldest = (short) keys.getMethod("oldestVersion").invoke(api);
                    short newest = newest(keys, api);
                    if (oldest <= newest && newest >= 0) {
                        System.out.println(String.join("\t",
                            String.valueOf(keys.getField("id").get(api)),
                            String.valueOf(oldest), String.valueOf(newest),
                            String.valueOf(keys.getField("clusterAction").get(api)),
                            String.valueOf(keys.getField("name").get(api))));
                    }
                }
            }
        }
    }

    /** Releases before 3.5 have no unstable versions. */
    private static short newest(Class<?> keys, Object api) throws Exception {
        Method method;
        try {
            method = keys.getMethod("latestVersion", boolean.class);
        } catch (NoSuchMethodException e) {
            return (short) keys.getMethod("latestVersion").invoke(api);
        }
        return (short) method.invoke(api, false);
    }
}
