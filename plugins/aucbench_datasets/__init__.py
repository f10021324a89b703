"""The built-in data sets."""

from aucbench import hookimpl
from aucbench_datasets.bundled import BreastCancer, Digits
from aucbench_datasets.gaussian import Gaussian
from aucbench_datasets.libsvm import Libsvm
from aucbench_datasets.libsvm_site import A9a, Covtype, Ijcnn1, W8a


@hookimpl
def aucbench_datasets() -> tuple[type, ...]:
    """Classes of the built-in data sets."""
    return (BreastCancer, Digits, A9a, W8a, Ijcnn1, Covtype, Gaussian, Libsvm)
