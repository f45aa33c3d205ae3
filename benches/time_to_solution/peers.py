"""What SciPy and pyamg take for a system: times of set-up and of iterations, as lines of JSON.

Called by the benchmark: peers.py FOLDER TOL SECONDS, where FOLDER has the compressed rows as ends.i64, cols.i32 and values.f64,
and the right-hand side as b.f64. SuperLU comes last, and ends the script where it takes longer than SECONDS.
"""

import json
import signal
import sys
import time

folder, tol, most = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
try:
    import numpy as np
    import scipy
    import scipy.sparse as sp
    import scipy.sparse.linalg as linalg
except ImportError as error:
    print(json.dumps({"left_out": f"SciPy ({error})"}), flush=True)
    sys.exit()
try:
    import pyamg
except ImportError as error:
    pyamg = None
    print(json.dumps({"left_out": f"pyamg ({error})"}), flush=True)


def array(name, kind):
    return np.fromfile(f"{folder}/{name}", dtype=kind)


ends, b = array("ends.i64", "<i8"), array("b.f64", "<f8")
a = sp.csr_matrix((array("values.f64", "<f8"), array("cols.i32", "<i4"), ends))


def measured(method, set_up, solve):
    begun = time.perf_counter()
    made = set_up()
    ready = time.perf_counter()
    x, iterations = solve(made)
    done = time.perf_counter()
    residual = float(np.linalg.norm(b - a @ x) / np.linalg.norm(b))
    line = {"method": method, "set_up_ms": 1e3 * (ready - begun), "iterate_ms": 1e3 * (done - ready),
            "wall_ms": 1e3 * (done - begun), "iterations": iterations, "true_residual": residual}
    print(json.dumps(line), flush=True)
    return done - begun


def multigrid(make):
    def solve(made):
        residuals = []
        x = made.solve(b, tol=tol, accel="cg", maxiter=1000, residuals=residuals)
        return x, len(residuals) - 1
    return make, solve


if pyamg:
    version = pyamg.__version__
    measured(f"CPU: pyamg {version}, ruge_stuben", *multigrid(lambda: pyamg.ruge_stuben_solver(a)))
    measured(f"CPU: pyamg {version}, smoothed_aggregation",
             *multigrid(lambda: pyamg.smoothed_aggregation_solver(a)))
# What its factors take depends on the pattern, and no handler of Python's runs meanwhile: the signal itself ends it.
if hasattr(signal, "alarm"):
    signal.alarm(max(1, round(most)))
measured(f"CPU: SciPy {scipy.__version__}, SuperLU",
         lambda: linalg.splu(a.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                             options={"SymmetricMode": True}),
         lambda factors: (factors.solve(b), 0))
