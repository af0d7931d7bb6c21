"""A real Chromium for tests of the page: offline, and everything that it does is written down."""
