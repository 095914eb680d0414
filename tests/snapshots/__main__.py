import subprocess
import sys

from tests.browsing import ROOT

options = ["--update-snapshots", "-q", "-m", "", *sys.argv[1:]]  # -m "": also what is marked slow
sys.exit(
    subprocess.call([sys.executable, "-m", "pytest", "tests/dashboard/pages/test_snapshots.py", *options], cwd=ROOT)
)
