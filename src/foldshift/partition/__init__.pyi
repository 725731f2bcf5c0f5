from .distinct import distinct_partitions as distinct_partitions
from .distinct import fold_fingerprints as fold_fingerprints
from .export import export_folds as export_folds
from .folds import as_folds as as_folds
from .folds import check_folds as check_folds
from .holdout import holdout as holdout
from .methods.anticlustering import aba_folds as aba_folds
from .methods.anticlustering import twinning_folds as twinning_folds
from .methods.balanced import (
    cb_cv_folds as cb_cv_folds,
)
from .methods.balanced import (
    cb_scv_folds as cb_scv_folds,
)
from .methods.balanced import (
    cb_table_folds as cb_table_folds,
)
from .methods.balanced import (
    cb_tscv_folds as cb_tscv_folds,
)
from .methods.cluster import cbdscv_folds as cbdscv_folds
from .methods.cluster import scbcv_folds as scbcv_folds
from .methods.discrepancy import bdscv_folds as bdscv_folds
from .methods.distance_based import db_scv_folds as db_scv_folds
from .methods.distance_based import dob_scv_folds as dob_scv_folds
from .methods.distance_based import ms_scv_folds as ms_scv_folds
from .methods.scv import scv_folds as scv_folds
from .methods.spxy import spxy_folds as spxy_folds
from .methods.stratified import stratified_folds as stratified_folds
from .randomness import fold_randomness as fold_randomness
from .registry import make_folds as make_folds
from .splits import as_splits as as_splits
from .splitters.balanced_splitters import (
    CovariateBalancedKFold as CovariateBalancedKFold,
)
from .splitters.balanced_splitters import (
    RepeatedCovariateBalancedKFold as RepeatedCovariateBalancedKFold,
)
from .splitters.class_splitters import (
    DBSCV as DBSCV,
)
from .splitters.class_splitters import (
    DOBSCV as DOBSCV,
)
from .splitters.class_splitters import (
    MSSCV as MSSCV,
)
from .splitters.class_splitters import (
    SCV as SCV,
)
from .splitters.class_splitters import (
    RepeatedDBSCV as RepeatedDBSCV,
)
from .splitters.class_splitters import (
    RepeatedDOBSCV as RepeatedDOBSCV,
)
from .splitters.class_splitters import (
    RepeatedMSSCV as RepeatedMSSCV,
)
from .splitters.class_splitters import (
    RepeatedSCV as RepeatedSCV,
)
from .splitters.regression_splitters import (
    ContinuousStratifiedKFold as ContinuousStratifiedKFold,
)
from .splitters.regression_splitters import (
    RepeatedContinuousStratifiedKFold as RepeatedContinuousStratifiedKFold,
)
from .splitters.structure_splitters import (
    ForwardBlockKFold as ForwardBlockKFold,
)
from .splitters.structure_splitters import (
    NNDistanceKFold as NNDistanceKFold,
)
from .splitters.structure_splitters import (
    SameOtherAllKFold as SameOtherAllKFold,
)
from .splitters.structure_splitters import (
    SpatialBlockKFold as SpatialBlockKFold,
)
from .structure.nearest_distance import nndm_folds as nndm_folds
from .structure.spatial_blocks import block_folds as block_folds
