# The public names of aucbench, each once: read by type checkers, and by `lazy_loader` when one is used.

from . import kernels as kernels
from . import sklearn as sklearn
from . import testing as testing
from .analysis import optimum as optimum
from .analysis import suggest as suggest
from .api import catalog as catalog
from .api import plan_study as plan_study
from .api import replay as replay
from .api import run as run
from .api import run_study as run_study
from .contracts import Access as Access
from .contracts import Algorithm as Algorithm
from .contracts import Batch as Batch
from .contracts import Claims as Claims
from .contracts import Count as Count
from .contracts import CsrRows as CsrRows
from .contracts import Dataset as Dataset
from .contracts import FeatureMap as FeatureMap
from .contracts import File as File
from .contracts import Grouping as Grouping
from .contracts import Index as Index
from .contracts import Interval as Interval
from .contracts import Lockstep as Lockstep
from .contracts import Loss as Loss
from .contracts import NonNegative as NonNegative
from .contracts import Norm as Norm
from .contracts import Objective as Objective
from .contracts import OpenUnit as OpenUnit
from .contracts import Positive as Positive
from .contracts import Problem as Problem
from .contracts import Samples as Samples
from .contracts import Table as Table
from .contracts import check_fields as check_fields
from .contracts.hooks import hookimpl as hookimpl
from .data.memory import require_memory as require_memory
from .errors import AucbenchError as AucbenchError
from .errors import CellError as CellError
from .errors import DataError as DataError
from .errors import FetchError as FetchError
from .errors import ParameterError as ParameterError
from .errors import PluginError as PluginError
from .errors import TrackingError as TrackingError
from .studies.result import Result as Result
from .studies.study import Observer as Observer

__version__: str
