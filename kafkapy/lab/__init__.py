"""Stories of replicas, played step by step on real logs: scenarios, their language, and what they come to."""
