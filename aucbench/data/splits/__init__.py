"""Protocols: which rows of a data set train, validate and test. Imported by whoever imports `data`.

A protocol is a frozen dataclass that extends `SplitProtocol`. A split depends on the data, the protocol, the
split seed and the number of the fold only. `inner_split` and `limited` work on the split of any protocol.
"""
