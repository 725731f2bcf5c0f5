from .comparisons.accuracy_tests import (
    compare_independent as compare_independent,
)
from .comparisons.accuracy_tests import (
    compare_matched as compare_matched,
)
from .comparisons.accuracy_tests import (
    loo_matched as loo_matched,
)
from .comparisons.bayes import bayesian_hierarchical as bayesian_hierarchical
from .comparisons.bayes import bayesian_signed_ranks as bayesian_signed_ranks
from .comparisons.compare import compare as compare
from .comparisons.conservative_z import conservative_z as conservative_z
from .comparisons.equivalence import equivalence_signed_ranks as equivalence_signed_ranks
from .comparisons.equivalence import equivalence_test as equivalence_test
from .comparisons.paired import (
    bayesian_correlated_t as bayesian_correlated_t,
)
from .comparisons.paired import (
    f_5x2cv as f_5x2cv,
)
from .comparisons.paired import (
    mcnemar as mcnemar,
)
from .comparisons.paired import (
    nadeau_bengio as nadeau_bengio,
)
from .comparisons.paired import (
    paired_t as paired_t,
)
from .comparisons.paired import (
    t_5x2cv as t_5x2cv,
)
from .comparisons.ranks import critical_difference as critical_difference
from .comparisons.ranks import friedman as friedman
from .comparisons.sign import sign_test as sign_test
from .comparisons.wilcoxon import SignedRanks as SignedRanks
from .comparisons.wilcoxon import wilcoxon_signed_ranks as wilcoxon_signed_ranks
from .intervals.accuracy import accuracy_interval as accuracy_interval
from .intervals.accuracy import large_sample as large_sample
from .intervals.accuracy import loo_interval as loo_interval
from .intervals.auc import auc_interval as auc_interval
from .intervals.bootstrap import bootstrap_632plus as bootstrap_632plus
from .intervals.cross_validation import (
    Interval as Interval,
)
from .intervals.cross_validation import (
    cv_intervals as cv_intervals,
)
from .intervals.cross_validation import (
    nested_cv_interval as nested_cv_interval,
)
from .intervals.difference import loss_difference_interval as loss_difference_interval
from .intervals.score_difference import score_difference_interval as score_difference_interval
from .intervals.score_interval import score_interval as score_interval
from .intervals.selection import selection_corrected_error as selection_corrected_error
from .repetitions.agreement import agreements as agreements
from .repetitions.convergence import converged_after as converged_after
from .repetitions.recommend import recommend_repetitions as recommend_repetitions
from .repetitions.variance import (
    CVVariance as CVVariance,
)
from .repetitions.variance import (
    cv_variance as cv_variance,
)
from .repetitions.variance import (
    estimator_from_bias as estimator_from_bias,
)
from .repetitions.variance import (
    variance_components as variance_components,
)
from .score_tables.check_scores import CheckedScores as CheckedScores
from .score_tables.check_scores import check_scores as check_scores
from .score_tables.table_comparison import TableComparison as TableComparison
from .simulation.audit import coverage_audit as coverage_audit
from .simulation.source_models import (
    mean_predictor_fixed as mean_predictor_fixed,
)
from .simulation.source_models import (
    mean_predictor_random as mean_predictor_random,
)
from .simulation.source_models import (
    simulate_losses as simulate_losses,
)
from .simulation.wong_partitions import wong_partition as wong_partition
