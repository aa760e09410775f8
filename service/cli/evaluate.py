"""`letopis eval`: how good the index is, measured against judged files."""

from __future__ import annotations

import click

from service.cli.name_evaluation import entities
from service.cli.search_evaluation import search


@click.group("eval")
def evaluate() -> None:
    """Measure search and names against judged files."""


for command in (search, entities):
    evaluate.add_command(command)
