"""The only room that counts: clients and their oracles, what they send and compute, and ciphers."""
