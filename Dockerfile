# The service and the dashboard: `docker compose up` (compose.yaml), or `docker build -t evroute .`.
# It runs as a user without rights, and needs no writable file but the volume /data and /tmp.
FROM python:3.11-slim AS built
WORKDIR /source
COPY pyproject.toml hatch_build.py constraints.txt README.md LICENSE THIRD_PARTY.md CHANGELOG.md ./
COPY evroute evroute
COPY app app
COPY data data
COPY recipe/install.sh recipe/install.sh
RUN sh recipe/install.sh /opt/evroute

FROM python:3.11-slim
COPY --from=built /opt/evroute /opt/evroute
RUN useradd --system --uid 10001 --home-dir /data evroute && install -d -o evroute /data
ENV PATH=/opt/evroute/bin:$PATH EVROUTE_CACHE_DIR=/data/cache HOME=/data PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/data/cache/numba
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["evroute", "serve", "--beliefs", "/data/beliefs", "--host", "0.0.0.0", "--token-file", "/run/secrets/evroute-token", "--allow-host", "serve"]
