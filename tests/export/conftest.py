from tests.golden_set import golden, zk_era

__all__ = ["golden", "zk_era"]
