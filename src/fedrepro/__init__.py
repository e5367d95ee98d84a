"""Replication of five federated-optimisation papers."""
