"""What holds for all tests. Property tests have no deadline: a busy machine is no failure of the code."""

from hypothesis import settings

settings.register_profile("evalward", deadline=None)
settings.load_profile("evalward")
