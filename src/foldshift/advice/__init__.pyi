from .advise import advise as advise
from .issues import find_faults as find_faults
from .result import Advice as Advice
from .rules import read_rules as read_rules
from .structure.find import rows_kept_together as rows_kept_together
