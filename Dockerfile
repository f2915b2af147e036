# gslopes with its weights, on CPUs (amd64, arm64) or on NVIDIA GPUs (amd64). docs/pages/howto/offline.md shows how it is run.
#
#     docker build -t gslopes .
#     docker build -t gslopes:cuda --build-arg BUILD=cuda .
#
# The base image is pinned by its digest, Python's packages by uv.lock, with hashes. Only PyTorch's builds for CPUs are pinned by
# version alone: they come from its own index, which uv.lock does not know.

# docker buildx imagetools inspect python:3.13-slim-trixie shows the digest of today's
ARG PYTHON=python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${PYTHON} AS build
ARG BUILD=cpu
# Any of pyproject.toml: services, kinds of model files, photos of phones, the sibling audits
ARG EXTRAS="captions collect contexts google heif http llm onnx smartcrop"
ENV UV_NO_CACHE=1 UV_COMPILE_BYTECODE=1 VIRTUAL_ENV=/opt/gslopes
WORKDIR /src
COPY .ci/install.txt .ci/locked .ci/
RUN pip install --no-cache-dir --require-hashes --no-deps -r .ci/install.txt && python -m venv --without-pip /opt/gslopes
COPY pyproject.toml uv.lock ./
# hadolint ignore=SC2086
RUN .ci/locked "$BUILD" . $EXTRAS \
    && uv pip install --no-deps --require-hashes -r locked.txt \
    && if [ -s torch.txt ]; then uv pip install --no-deps --index-url https://download.pytorch.org/whl/cpu -r torch.txt; fi
COPY README.md LICENSE ./
COPY gslopes gslopes
COPY models models
COPY weights weights
RUN hatchling build -t wheel && uv pip install --no-deps dist/*.whl

FROM ${PYTHON}
LABEL org.opencontainers.image.title="gslopes" \
    org.opencontainers.image.description="Does an image classifier's answer depend on the perceived gender or race of the face in a photo?" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.documentation="https://doi.org/10.1145/3422841.3423533"
RUN useradd --uid 10001 --create-home gslopes && install -d -m 1777 /runs /cache
COPY --from=build /opt/gslopes /opt/gslopes
# Whoever it runs as may write into both: --user "$(id -u):$(id -g)" makes run folders yours
ENV PATH="/opt/gslopes/bin:$PATH" XDG_CACHE_HOME=/cache MPLCONFIGDIR=/cache/matplotlib \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 10001
WORKDIR /runs
VOLUME ["/runs", "/cache"]
# Ctrl-C and docker stop let it finish what is in flight; the same command resumes
STOPSIGNAL SIGINT
ENTRYPOINT ["gslopes"]
CMD ["--help"]
