"""The names of the scenarios that come with kafkapy, in the order in which they are best read."""

NAMES = (
    "two-fetch-rounds",
    "purgatory",
    "acks",
    "data-loss",
    "data-loss-prevented",
    "divergence",
    "divergence-prevented",
    "unclean-election",
    "preferred-election",
    "controller-fail-over",
    "producer-retries",
    "commit-before-work",
    "commit-after-work",
)
