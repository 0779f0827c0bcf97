"""Feedback of an expert, and the agreement that it adds up to."""

from dataclasses import dataclass
from datetime import datetime

from assay.assessments.models import Category


@dataclass(frozen=True, slots=True)
class Feedback:
    """`category` is the expert's own; None where the expert only spoke of the rationale."""

    id: int
    expert_id: str
    rational_feedback: str
    finding_id: int | None
    category: Category | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often the experts of a partner named the category that was found."""

    criterion_code_name: str
    feedback: int
    with_category: int
    agreed: int

    @property
    def share(self) -> float | None:
        return round(self.agreed / self.with_category, 4) if self.with_category else None
