"""The same characters, classified by a network. Yuan, Zaheer & Reddi 2021, Figure 15."""

from fedrepro import datasets
from fedrepro.datasets import partition
from fedrepro.experiments.problem import problem
from fedrepro.maths.models.network import Network
from fedrepro.papers.fco.problems.characters import Characters, Writers


class Networks(Characters):
    def __init__(self, dataset, clients, setting, seed):
        super().__init__(dataset, clients, setting, seed)
        self.costs = Network(self.costs.X, self.costs.y, self.costs.sizes)


@problem()
def networks(setting: Writers, seed, data) -> Networks:
    """Federated EMNIST, or its relative, MNIST by writer; `hidden` layers of these sizes."""
    dataset = datasets.load(data.dataset, data.root)
    return Networks(dataset, partition.read(data.partition, seed).rows, setting, seed)
