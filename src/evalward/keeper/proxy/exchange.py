"""What can happen between an agent and the proxy, without the HTTP library."""


class ClientGoneError(Exception):
    """The agent has closed the connection, or speaks no HTTP."""
