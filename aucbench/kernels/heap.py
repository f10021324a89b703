"""A heap of numbered items with the smallest key on top, whose items can be found, changed and removed.

The heap is three arrays: `items` and `keys` of its `count` entries, the four children of the entry k being
4 k + 1 to 4 k + 4, and `place`, for each item the number of its entry plus one, 0 when it is not inside.
Each operation moves O(log count) entries. NaN keys are not ordered.
"""

from aucbench.kernels.compiling import kernel


@kernel
def rise(items, keys, place, slot, item, key):
    """Put an item in the free entry `slot`, or above it."""
    while slot > 0:
        parent = (slot - 1) >> 2
        if not key < keys[parent]:
            break
        items[slot], keys[slot] = items[parent], keys[parent]
        place[items[slot]] = slot + 1
        slot = parent
    items[slot], keys[slot] = item, key
    place[item] = slot + 1


@kernel
def sink(items, keys, place, count, slot, item, key):
    """Put an item in the free entry `slot`, or below it."""
    while True:
        first = 4 * slot + 1
        if first >= count:
            break
        child = first
        for other in range(first + 1, min(first + 4, count)):
            if keys[other] < keys[child]:
                child = other
        if not keys[child] < key:
            break
        items[slot], keys[slot] = items[child], keys[child]
        place[items[slot]] = slot + 1
        slot = child
    items[slot], keys[slot] = item, key
    place[item] = slot + 1


@kernel
def change(items, keys, place, count, item, key):
    """Give an item another key."""
    slot = place[item] - 1
    if key < keys[slot]:
        rise(items, keys, place, slot, item, key)
    else:
        sink(items, keys, place, count, slot, item, key)


@kernel
def remove(items, keys, place, count, item):
    """Remove an item; the heap has count - 1 entries then."""
    slot, last = place[item] - 1, count - 1
    place[item] = 0
    if slot == last:
        return
    if keys[last] < keys[slot]:
        rise(items, keys, place, slot, items[last], keys[last])
    else:
        sink(items, keys, place, last, slot, items[last], keys[last])
