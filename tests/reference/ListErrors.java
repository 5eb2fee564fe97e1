import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Prints every error code of the protocol: number, name, exception, whether it is retriable, message. */
public class ListErrors {
    public static void main(String[] args) {
        for (Errors error : Errors.values()) {
            if (error != Errors.NONE) {
                String name = error.exception().getClass().getSimpleName();
                String retriable = error.exception() instanceof RetriableException ? "retriable" : "-";
                System.out.println(String.join("\t", "" + error.code(), error.name(), name, retriable, error.message()));
            }
        }
    }
}
