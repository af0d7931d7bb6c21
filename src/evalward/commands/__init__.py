"""One module per command: what `evalward NAME` does. They take a `World` instead of reaching for the environment."""
