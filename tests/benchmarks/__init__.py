"""Commands that print timings. One BLAS thread each, set before numpy is imported."""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
