"""The golden sets, for the tests of this directory."""

from tests.golden_set import golden as golden
