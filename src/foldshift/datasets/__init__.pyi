from .catalogue import load_dataset as load_dataset
from .catalogue import read_catalogue as read_catalogue
from .dataset import Dataset as Dataset
from .own_files import read_file as read_file
from .prepare import prepare as prepare
