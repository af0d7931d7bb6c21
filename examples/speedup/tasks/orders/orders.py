"""What a shop asks of its orders."""


def unique(names):
    """The names without repetition, in the order in which they first came."""
    found = []
    for name in names:
        if name not in found:
            found.append(name)
    return found


def totals(orders):
    """The sum of each customer's orders, customers in the order in which they first came."""
    return [
        [customer, sum(amount for name, amount in orders if name == customer)]
        for customer in unique([name for name, _ in orders])
    ]
