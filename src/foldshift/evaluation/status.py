"""What became of a fit; apart from the modules that fit, so that those who only count need not load scikit-learn."""

OK, FAILED, TIMEOUT = "ok", "failed", "timeout"
