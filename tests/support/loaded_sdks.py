"""The SDKs, loaded as our own processes load them: imported for that alone."""

from evalward.targets.models import anthropic, openai_client

anthropic.load_sdk()
openai_client.load_sdk()
