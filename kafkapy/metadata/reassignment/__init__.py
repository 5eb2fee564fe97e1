"""Moving replicas: plans, what they cost, and the files they are written in."""
