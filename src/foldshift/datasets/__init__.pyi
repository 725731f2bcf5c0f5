from .catalogue import load_dataset as load_dataset
from .catalogue import read_catalogue as read_catalogue
from .dataset import Dataset as Dataset
from .prepare import prepare as prepare
