"""The two providers' errors, in their own words and shapes."""

from __future__ import annotations

from support.model_server.api import RejectedError

LIMIT_MESSAGE = (
    "This request would exceed your organization's rate limit of 50 requests per minute. For details, refer to the "
    "rate limits page."
)
NO_CREDIT = (
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase "
    "credits."
)
NO_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
)


def anthropic_failures(model: str) -> dict[str, RejectedError]:
    """The errors by the names of the faults."""
    limited = RejectedError(429, "rate_limit_error", LIMIT_MESSAGE)
    spent = {"error_code": "enforced_spend_limit_reached"}
    return {
        "rate_limit": limited,
        "overload": RejectedError(529, "overloaded_error", "Overloaded"),
        "unavailable": RejectedError(503, "api_error", "Service unavailable"),
        "server_error": RejectedError(500, "api_error", "Internal server error"),
        "gateway_timeout": RejectedError(504, "timeout_error", "Request timed out"),
        "key": RejectedError(401, "authentication_error", "invalid x-api-key"),
        "forbidden": RejectedError(
            403, "permission_error", "Your API key does not have permission to use the specified resource."
        ),
        "quota": RejectedError(400, "invalid_request_error", NO_CREDIT),
        "payment": RejectedError(402, "billing_error", "There is a problem with your billing. Check your payment."),
        "spend_limit": RejectedError(
            429, "rate_limit_error", "You have reached your specified API usage limits.", details=dict(spent)
        ),
        "model_not_found": RejectedError(404, "not_found_error", f"model: {model}"),
        "context_length": RejectedError(
            400, "invalid_request_error", "prompt is too long: 210432 tokens > 200000 maximum"
        ),
        "too_large": RejectedError(413, "request_too_large", "Request exceeds the maximum size"),
        "unprocessable": RejectedError(422, "invalid_request_error", "The request could not be processed."),
    }


def openai_failures(model: str, *, responses: bool) -> dict[str, RejectedError]:
    """The errors by the names of the faults."""
    return {
        "rate_limit": RejectedError(
            429,
            "requests",
            f"Rate limit reached for {model} in organization org-test on requests per min (RPM): Limit 3, Used 3, "
            "Requested 1. Please try again in 20s.",
            code="rate_limit_exceeded",
        ),
        "overload": RejectedError(
            503, "server_error", "The server is currently overloaded with other requests.", code="server_is_overloaded"
        ),
        "unavailable": RejectedError(503, "server_error", "The engine is currently unavailable."),
        "server_error": RejectedError(
            500, "server_error", "The server had an error while processing your request. Sorry about that!"
        ),
        "gateway_timeout": RejectedError(504, "server_error", "The request timed out."),
        "key": wrong_key("sk-test"),
        "forbidden": RejectedError(
            403,
            "invalid_request_error",
            "You have insufficient permissions for this operation. Missing scopes: model.request.",
            code="missing_scope",
        ),
        "quota": RejectedError(429, "insufficient_quota", NO_QUOTA, code="insufficient_quota"),
        "payment": RejectedError(402, "billing_error", "Payment required.", code="billing_not_active"),
        "spend_limit": RejectedError(
            429, "insufficient_quota", "You have reached your usage limit.", code="billing_hard_limit_reached"
        ),
        "model_not_found": missing_model(model, responses=responses),
        "context_length": too_long(responses=responses),
        "too_large": RejectedError(413, "invalid_request_error", "Maximum content size limit (26214400) exceeded"),
        "unprocessable": RejectedError(422, "invalid_request_error", "The request could not be processed."),
    }


def wrong_key(key: str) -> RejectedError:
    """A 401 that shows the beginning and the end of the key, as OpenAI's does."""
    masked = f"{key[:8]}{'*' * max(0, len(key) - 12)}{key[-4:]}" if len(key) > 12 else "***"
    return RejectedError(
        401,
        "invalid_request_error",
        f"Incorrect API key provided: {masked}. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        code="invalid_api_key",
    )


def missing_model(model: str, *, responses: bool) -> RejectedError:
    """404 in Chat Completions, 400 in Responses."""
    if responses:
        message = f"The requested model '{model}' does not exist."
        return RejectedError(400, "invalid_request_error", message, "model", "model_not_found")
    message = f"The model `{model}` does not exist or you do not have access to it."
    return RejectedError(404, "invalid_request_error", message, None, "model_not_found")


def too_long(*, responses: bool) -> RejectedError:
    """A 400 `context_length_exceeded`."""
    if responses:
        message = "Your input exceeds the context window of this model. Please adjust your input and try again."
        return RejectedError(400, "invalid_request_error", message, "input", "context_length_exceeded")
    message = (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. "
        "Please reduce the length of the messages."
    )
    return RejectedError(400, "invalid_request_error", message, "messages", "context_length_exceeded")
