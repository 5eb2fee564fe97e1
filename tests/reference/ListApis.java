import org.apache.kafka.common.protocol.ApiKeys;

/** Prints every api of the protocol: key, name, the versions that this release's clients know, whether clients use it. */
public class ListApis {
    public static void main(String[] args) {
        for (ApiKeys api : ApiKeys.values()) {
            String whose = ApiKeys.clientApis().contains(api) ? "client" : "other";
            System.out.println(String.join("\t",
                "" + api.id, api.name, "" + api.oldestVersion(), "" + api.latestVersion(), whose));
        }
    }
}
