import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;

import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;

import scala.Option;

/**
 * Runs Kafka's brokers, which are controllers too, in one JVM: what is compiled for one is there for the next. A line of
 * the standard input is a request in JSON: "start" with the path of a server.properties, "stop" or "state" with the
 * number of a broker. A line of the standard output answers it with that number, whether the broker has ended, and with
 * which error. Neither starting nor stopping is waited for: brokers need one another for both. Of those
 * that stop together, no controller ends before all have handed over what they lead: the last one would find no quorum
 * to tell, and wait for minutes.
 */
public class BrokerServer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<Broker> BROKERS = new CopyOnWriteArrayList<>();

    private static class Broker {
        private final KafkaRaftServer server;
        private final CountDownLatch handedOver = new CountDownLatch(1);
        private volatile boolean isStopping;
        private volatile boolean ended;
        private volatile String error;

        Broker(String properties) throws Exception {
            server = new KafkaRaftServer(KafkaConfig.fromProps(Utils.loadProps(properties), false), Time.SYSTEM);
            in("runs", () -> {
                try {
                    server.startup();
                    server.awaitShutdown();
                } catch (Throwable thrown) {
                    thrown.printStackTrace();
                    error = thrown.toString();
                } finally {
                    ended = true;
                }
            });
        }

        void stop() {
            isStopping = true;
            in("stops", () -> {
                broker().shutdown();
                handedOver.countDown();
                BROKERS.stream().filter(each -> each.isStopping).forEach(Broker::waitForHandover);
                server.shutdown();
            });
        }

        private void waitForHandover() {
            try {
                handedOver.await();
            } catch (InterruptedException exception) {
                throw new IllegalStateException(exception);
            }
        }

        /** The broker without its controller, which Kafka keeps to itself. */
        private kafka.server.BrokerServer broker() {
            try {
                Field field = KafkaRaftServer.class.getDeclaredField("broker");
                field.setAccessible(true);
                return (kafka.server.BrokerServer) ((Option<?>) field.get(server)).get();
            } catch (ReflectiveOperationException exception) {
                throw new IllegalStateException(exception);
            }
        }

        private static void in(String name, Runnable work) {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            thread.start();
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = JSON.readTree(line);
            int number = request.get("op").asText().equals("start") ? start(request) : request.get("broker").asInt();
            Broker broker = BROKERS.get(number);
            if (request.get("op").asText().equals("stop"))
                broker.stop();
            answers.println(JSON.createObjectNode()
                .put("broker", number).put("ended", broker.ended).put("error", broker.error));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static int start(JsonNode request) throws Exception {
        BROKERS.add(new Broker(request.get("properties").asText()));
        return BROKERS.size() - 1;
    }
}
