"""Operators without a model: tournaments, named techniques, parameter mutation and crossover."""

from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from operators.catalog.crossover import CatalogCrossover
from operators.catalog.designer import CatalogDesigner
from operators.catalog.generic.proposals import GenericEdits
from operators.catalog.mutator import CatalogMutator
from operators.catalog.random_search import random_candidate
from operators.catalog.selector import TournamentSelector
from operators.catalog.structure import Techniques
from operators.catalog.writer import CatalogWriter
from operators.operator import Operators

__all__ = [
    "CatalogCrossover",
    "CatalogDesigner",
    "CatalogMutator",
    "CatalogWriter",
    "TournamentSelector",
    "catalog_operators",
    "random_candidate",
]


def catalog_operators(task: Task, device: DeviceInfo, techniques: Techniques = "all") -> Operators:
    """The whole set for a task on a device. Without a family for the task, kernels are edited by
    generic techniques; without these only kernels that declare a space can be changed."""
    generic = GenericEdits(task, device) if techniques != "families" else None
    return Operators(
        selector=TournamentSelector(),
        designer=CatalogDesigner(task, device, techniques),
        writer=CatalogWriter(task, generic),
        crossover=CatalogCrossover(generic),
        mutator=CatalogMutator(generic),
    )
