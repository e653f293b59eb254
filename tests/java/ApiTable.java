import org.apache.kafka.common.protocol.ApiKeys;

/**
 * Every api that has versions: id, name, oldest version, newest stable version ("-" for none),
 * newest version, and the versions of the headers that go with that one.
 */
public final class ApiTable {
    public static void main(String[] args) {
        for (ApiKeys api : ApiKeys.values()) {
            if (api.messageType.highestSupportedVersion(true) < 0) {
                continue; // removed: no version is left
            }
            boolean any = api.messageType.lowestSupportedVersion()
                <= api.messageType.highestSupportedVersion(false);
            System.out.println(String.join("\t", String.valueOf(api.id), api.name,
                String.valueOf(api.messageType.lowestSupportedVersion()),
                any ? String.valueOf(api.messageType.highestSupportedVersion(false)) : "-",
                String.valueOf(api.messageType.highestSupportedVersion(true)),
                String.valueOf(api.messageType.requestHeaderVersion(
                    api.messageType.highestSupportedVersion(true))),
                String.valueOf(api.messageType.responseHeaderVersion(
                    api.messageType.highestSupportedVersion(true)))));
        }
    }
}
