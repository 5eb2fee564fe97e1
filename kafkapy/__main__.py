"""``python -m kafkapy`` is ``kafkapy``."""

import sys

from kafkapy.cli import main

sys.exit(main())
