"""Property tests here parse Markdown, which takes longer than hypothesis' default deadline on a busy machine."""

from hypothesis import settings

settings.register_profile("render", deadline=None)
settings.load_profile("render")
