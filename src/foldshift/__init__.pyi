from . import advice as advice
from . import datasets as datasets
from . import evaluation as evaluation
from . import inference as inference
from . import learners as learners
from . import partition as partition
from . import reporting as reporting
from . import shift as shift
from . import studies as studies
from .advice import advise as advise

__version__: str
