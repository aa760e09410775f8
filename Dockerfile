# Letopis in a container: one image, two uses (`serve` by default, `build` as a job); see docker-compose.yml.
#   docker build -t letopis .
#   docker build -t letopis --build-arg SPACY_MODEL=1 .     with spaCy's ru_core_news_sm beside slovnet
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
# Without pip inside: nothing can be installed into the finished environment.
RUN python -m venv --without-pip /opt/letopis
WORKDIR /src

# --no-deps: the lock is complete, and natasha is wanted for its weights alone. Wheels only: no compiler here.
COPY requirements.lock ./
RUN pip --python /opt/letopis/bin/python install --require-hashes --no-deps --only-binary :all: -r requirements.lock

# The genuine model, from spaCy's own releases by address and hash. Never by its name: the package index holds
# a squat of it. --no-index: nothing else can answer. A wrong or empty hash stops the build.
ARG SPACY_MODEL=0
ARG SPACY_MODEL_VERSION=3.8.0
ARG SPACY_MODEL_SHA256=69978d47b43e2c4f329bebdb155e8e9d3861bba1a58ba25551419dae7d7e07fc
RUN case "${SPACY_MODEL}" in \
      0) ;; \
      1) test -n "${SPACY_MODEL_SHA256}" \
           || { echo "SPACY_MODEL_SHA256 is empty. Next: give the sha256 that the release page of ru_core_news_sm-${SPACY_MODEL_VERSION} shows for the wheel." >&2; exit 1; }; \
         echo "https://github.com/explosion/spacy-models/releases/download/ru_core_news_sm-${SPACY_MODEL_VERSION}/ru_core_news_sm-${SPACY_MODEL_VERSION}-py3-none-any.whl --hash=sha256:${SPACY_MODEL_SHA256}" > model.txt; \
         pip --python /opt/letopis/bin/python install --require-hashes --no-deps --no-index -r model.txt ;; \
      *) echo "SPACY_MODEL is ${SPACY_MODEL}. Next: give 0 or 1." >&2; exit 1 ;; \
    esac

COPY pyproject.toml README.md LICENSE ./
COPY schemas schemas
COPY indexer indexer
COPY service service
RUN pip --python /opt/letopis/bin/python install --no-deps --no-build-isolation --no-index .


FROM ${BASE} AS final
LABEL org.opencontainers.image.title="Letopis" \
      org.opencontainers.image.description="Hybrid search over chat archives" \
      org.opencontainers.image.licenses="MIT"
# A fixed uid: the data volume and the rights on the archives are written down by number. The data folder
# exists in the image with its owner, so that an empty named volume takes both over.
RUN groupadd --system --gid 10077 letopis \
    && useradd --system --uid 10077 --gid 10077 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin letopis \
    && install -d -o letopis -g letopis -m 0700 /data \
    && install -d -m 0755 /archives /etc/letopis
COPY --from=build /opt/letopis /opt/letopis

# Nothing is written beside /data and /tmp: the root file system may be read-only.
# 0.0.0.0 inside the container makes the service refuse to start without LETOPIS_SERVICE__TOKEN.
ENV PATH=/opt/letopis/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    LETOPIS_DATA=/data \
    LETOPIS_SERVICE__HOST=0.0.0.0
USER 10077:10077
WORKDIR /etc/letopis
VOLUME ["/data"]
EXPOSE 8077
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:8077/readyz', timeout=4)"]
ENTRYPOINT ["letopis"]
CMD ["serve"]
