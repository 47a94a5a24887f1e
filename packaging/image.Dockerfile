# An image of the npm tarball beside this file, which `npm run package` puts here. The Dockerfile of the repository
# builds from source instead; everything below the installation is the same.
FROM node:22-bookworm AS build
COPY tidemark.tgz /tmp/tidemark.tgz
RUN npm install --global --prefix /opt --omit=dev --no-audit --no-fund /tmp/tidemark.tgz && mv /opt/lib/node_modules/tidemark /opt/tidemark

FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/tidemark
COPY --from=build --chown=root:root /opt/tidemark /opt/tidemark
RUN mkdir /data && useradd --system --no-create-home tidemark && chown tidemark:tidemark /data
USER tidemark
VOLUME /data
EXPOSE 8086 9092 8888
STOPSIGNAL SIGTERM
# Healthy is ready. Reading a long log must not count as a failure; who restarts by HTTP asks /health/live instead.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10m CMD ["packages/cli/bin/node", "-e", "fetch('http://127.0.0.1:8086/health').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Inside a container the services must listen on all its addresses. Publish ports on loopback only
# (-p 127.0.0.1:8086:8086), or turn authentication on and drop the flag.
ENTRYPOINT ["packages/cli/bin/tidemark"]
CMD ["up", "--data-dir", "/data", "--tsdb-bind", "0.0.0.0:8086", "--engine-bind", "0.0.0.0:9092", "--ui-bind", "0.0.0.0:8888", "--insecure-no-auth"]
