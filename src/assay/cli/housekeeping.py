"""`assay housekeeping`: what the worker does every hour."""

import json

from assay import settings
from assay.app import create_app
from assay.cli.terminal import AsJson, DataDir, opened, out, say
from assay.retention.housekeeping import Housekeeper


def housekeeping(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Erase what is over: expired keys and sessions, and what ASSAY_RETENTION__DAYS no longer keeps."""
    config = settings.load(data_dir=data_dir)
    with opened(config) as database:
        housekeeper: Housekeeper = create_app(config, database, working=False).state.housekeeper
        counts = housekeeper.run()
    if as_json:
        say(json.dumps(counts))
        return
    for kind, number in counts.items():
        out.print(f"{kind.replace('_', ' '):<17} {number:,}", markup=False)
