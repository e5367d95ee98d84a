"""FedSplit: an algorithmic framework for fast federated optimization. Pathak & Wainwright 2020."""
