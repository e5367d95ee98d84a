"""A primal-dual algorithm for hybrid federated learning. Overman, Blum & Klabjan 2023."""
