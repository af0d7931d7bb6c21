"""A plan on a Ray cluster: a bundle of cases is an ordinary shard, run by the ordinary command on some node.

Three processes. The command that was called starts the driver (`process`), which holds no key and is the only one that
loads Ray (`driver`). Ray runs `bundle` on its nodes: it starts the command there, with the environment of the node,
and gives back what the shard left as one archive (`packing`).
"""
