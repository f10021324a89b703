"""Protocols: which rows of a data set are for training, validation and testing; imported with `data`.

A protocol is a frozen dataclass that extends `SplitProtocol`. A split depends only on the data, the protocol,
the split seed and the number of the fold. `inner_split` and `limited` work on the split of any protocol.
"""
