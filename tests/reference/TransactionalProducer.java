import java.util.Properties;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Commits one transaction for each argument after the topic: a record with that value in partition 0 of the topic. */
public class TransactionalProducer {
    public static void main(String[] args) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("transactional.id", args[1]);
        try (KafkaProducer<String, String> producer =
                 new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (int at = 3; at < args.length; at++) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(args[2], 0, null, args[at]));
                producer.commitTransaction();
            }
        }
    }
}
