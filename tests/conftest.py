import os

# One thread per process, before numpy is imported: the suite runs in as many processes as there are cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# SHAP takes ten seconds to compile: only where a test runs it.
os.environ.setdefault("COMMOD_WARM_UP", "0")
