"""What a broker tells when no controller leads: all that it knows itself, without waiting for what it does not."""

from __future__ import annotations

from pathlib import Path

from tests.live_kafka import LiveKafka


def test_a_broker_tells_of_topics_and_configs(live: LiveKafka, tmp_path: Path) -> None:
    """A broker answers the requests of a connection one by one: behind one for the controller all others wait."""
    topic = live.create_topic(assignment=[[1]], configs={"retention.ms": "86400000"})
    described = live.kafkapy("topics", "--bootstrap-server", live.address(1), "--describe", "--topic", topic)
    settings = tmp_path / "hasty.properties"
    settings.write_text("request.timeout.ms=3000\ndefault.api.timeout.ms=3000\n")
    on = ("--bootstrap-server", live.address(1), "--command-config", settings)
    for broker_id in (2, 3):
        live.kill_broker(broker_id, wait=False)
    live.until(lambda: live.kafkapy("metadata-quorum", *on, "describe", "--status").code == 1)
    configs = live.kafkapy("configs", *on, "--describe", "--topic", topic)
    assert (configs.code, configs.err) == (0, "")
    assert "  retention.ms=86400000 " in configs.out
    assert live.kafkapy("topics", *on, "--describe", "--topic", topic) == described
    told = "the broker asks the active controller, and perhaps there is none: 'kafkapy doctor' with the same options"
    for command in (
        ("topics", *on, "--create", "--topic", "more"),
        ("configs", *on, "--alter", "--topic", topic, "--add-config", "retention.ms=1"),
        ("leader-election", *on, "--election-type", "preferred", "--all-topic-partitions"),
        ("reassign-partitions", *on, "--list"),
        ("metadata-quorum", *on, "describe", "--status"),
    ):
        done = live.kafkapy(*command)
        assert done.code == 1
        assert "did not answer" in done.err
        assert told in done.err
    settings.write_text("request.timeout.ms=2000\ndefault.api.timeout.ms=3000\n")
    assert told in live.kafkapy("reassign-partitions", *on, "--list").err
    live.start_all()
    live.delete_topics(topic)
