"""SHED: Newton-type federated learning by sharing Hessian eigenvectors. Dal Fabbro, Dey, Rossi & Schenato 2022."""
