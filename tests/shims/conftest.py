from tests.golden_set import golden

__all__ = ["golden"]
