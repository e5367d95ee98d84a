"""FedHybrid: a hybrid primal-dual algorithm framework for federated optimization. Niu & Wei 2021."""
