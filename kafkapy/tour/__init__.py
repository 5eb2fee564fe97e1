"""The tour: steps as data, played by a shell in a scratch directory."""
