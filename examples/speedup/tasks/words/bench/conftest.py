def pytest_benchmark_generate_machine_info():
    """Asking the processor what it is takes longer than measuring, and its answer is of no use here."""
    return {"node": "unknown"}
