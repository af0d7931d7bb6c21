"""`PROVIDER/MODEL`: a model, which whoever holds the keys asks for us."""

from __future__ import annotations

from evalward.records.target_id import TargetId
from evalward.targets.asking import AskedTarget
from evalward.targets.context import TargetContext
from evalward.targets.models.settings import settings_of


def model(asked: TargetId, context: TargetContext) -> AskedTarget:
    """The model of this id, asked as the configuration says."""
    settings = settings_of(context.loaded.config, asked.provider, asked.model)
    return AskedTarget(settings, context.env, context.asker)
