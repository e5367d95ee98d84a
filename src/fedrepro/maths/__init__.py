"""Mathematics alone: losses, proxes, mirrors, costs, optima and their compiled kernels; no clients, no files."""
