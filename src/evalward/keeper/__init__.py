"""Who holds the keys: it asks providers, keeps records, and opens nothing that the head of a pull request wrote."""
