from .detectors.co_failure import co_failure as co_failure
from .detectors.dependence import dependence_test as dependence_test
from .detectors.monitoring_tests import (
    adjust_p as adjust_p,
)
from .detectors.monitoring_tests import (
    chi_square as chi_square,
)
from .detectors.monitoring_tests import (
    friedman_bootstrap as friedman_bootstrap,
)
from .detectors.monitoring_tests import (
    kruskal_wallis as kruskal_wallis,
)
from .detectors.monitoring_tests import (
    two_proportion as two_proportion,
)
from .detectors.spread import spread_test as spread_test
from .detectors.two_sample import (
    classifier_two_sample as classifier_two_sample,
)
from .detectors.two_sample import (
    energy_distance_test as energy_distance_test,
)
from .detectors.two_sample import (
    mmd as mmd,
)
from .inject.injectors import inject_shift as inject_shift
from .inject.injectors import versions as versions
from .measures.covariates import (
    fold_covariates as fold_covariates,
)
from .measures.covariates import (
    fold_hellinger_attributes as fold_hellinger_attributes,
)
from .measures.covariates import (
    fold_ks_attributes as fold_ks_attributes,
)
from .measures.hellinger import hellinger as hellinger
from .measures.hellinger import hellinger_features as hellinger_features
from .measures.ks import fold_ks as fold_ks
from .measures.ks import ks_features as ks_features
from .measures.ks import ks_p_value as ks_p_value
from .measures.ks import ks_statistic as ks_statistic
from .measures.train_test_ks import split_ks as split_ks
from .report.drift_report import DriftReport as DriftReport
from .report.fold_drift import fold_drift as fold_drift
