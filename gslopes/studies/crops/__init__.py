"""``gslopes crops``: whom does an automatic crop keep? The order of work of ``audits.crops``."""

from gslopes.studies.crops.config import PRESETS, CropsConfig
from gslopes.studies.crops.study import Crops, CropsPlan, crops, plan_crops

__all__ = ["PRESETS", "Crops", "CropsConfig", "CropsPlan", "crops", "plan_crops"]
