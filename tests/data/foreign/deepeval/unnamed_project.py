"""python unnamed.py: cases without a name, evaluated without pytest."""

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase
from test_shapes import Plain, contains

cases = [LLMTestCase(input=f"Question {n}", actual_output=f"Answer {n}", expected_output="Answer") for n in range(3)]
cases.append(LLMTestCase(name="named", input="Question", actual_output="none", expected_output="Answer"))
evaluate(
    cases,
    [Plain("Contains", contains)],
    async_config=AsyncConfig(run_async=False),
    cache_config=CacheConfig(write_cache=False),
    display_config=DisplayConfig(print_results=False, show_indicator=False),
    error_config=ErrorConfig(ignore_errors=True),
)
