"""Live models: three protocols, one conversation. The SDKs are imported when the first model is asked."""
