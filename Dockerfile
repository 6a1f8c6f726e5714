# One image for every process of DCF: its entry point is the command `dcf`. It brings no Redis, no
# skills and no secrets; compose.yaml says what a container gets.

ARG PYTHON=3.13-slim-trixie

# Compilers, pip and what builds the wheel stay in this stage.
FROM python:${PYTHON} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_INPUT=1 \
    PIP_ROOT_USER_ACTION=ignore \
    UV_COMPILE_BYTECODE=1 \
    UV_NO_CACHE=1 \
    UV_PYTHON_DOWNLOADS=never \
    UV_SYSTEM_CERTS=1
WORKDIR /build
# Requirements first: they change seldom, and their layers are kept when only our code changes.
COPY requirements/uv.txt requirements/build.txt requirements/image.txt requirements/
RUN pip install --require-hashes --no-deps -r requirements/uv.txt \
    && uv pip install --system --require-hashes --no-deps -r requirements/build.txt \
    && python -m venv --without-pip /opt/dcf \
    && uv pip sync --python /opt/dcf/bin/python --require-hashes requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY control_plane control_plane
COPY dcf dcf
COPY dcf_agents dcf_agents
COPY docs docs
COPY generated generated
COPY prompts prompts
COPY skills_src skills_src
COPY workflows workflows
RUN uv build --wheel --no-build-isolation --out-dir /wheels . \
    && uv pip install --python /opt/dcf/bin/python --no-deps /wheels/*.whl

FROM python:${PYTHON}
LABEL org.opencontainers.image.title="DCF" \
      org.opencontainers.image.description="Durable agent workflows: MCP server, stub server, worker" \
      org.opencontainers.image.licenses="Apache-2.0"
# A fixed id, so that volumes keep their owner from one image to the next. The folders are made here
# because a new volume takes over the owner of what it is mounted on.
RUN groupadd --gid 10001 dcf \
    && useradd --uid 10001 --gid dcf --no-create-home --home-dir /tmp --shell /usr/sbin/nologin dcf \
    && install -d -o dcf -g dcf /srv/dcf /srv/dcf/generated /srv/dcf/objects /srv/dcf/sessions \
       /srv/dcf/retrieval /srv/dcf/skills_src /srv/dcf/workflows /srv/dcf/workflows/runs /srv/dcf/workspace
COPY --from=build /opt/dcf /opt/dcf
# Bytecode was compiled above, for quick starts; nothing is written while it runs.
ENV PATH=/opt/dcf/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    DCF_HOME=/tmp/dcf
USER 10001:10001
WORKDIR /srv/dcf
STOPSIGNAL SIGTERM
ENTRYPOINT ["dcf"]
CMD ["--help"]
