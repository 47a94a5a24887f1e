# An image of the npm tarball beside this file, which `npm run package` puts here. The Dockerfile of the repository
# builds from source instead; everything below the installation is the same.
FROM node:20-bookworm-slim
COPY tidemark.tgz /tmp/tidemark.tgz
RUN npm install --global --omit=dev --no-audit --no-fund /tmp/tidemark.tgz && rm -rf /tmp/tidemark.tgz /root/.npm
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8086 9092 8888
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:8086/health').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Inside a container the services must listen on all its addresses. Publish ports on loopback only
# (-p 127.0.0.1:8086:8086), or turn authentication on and drop the flag.
ENTRYPOINT ["tidemark"]
CMD ["up", "--data-dir", "/data", "--tsdb-bind", "0.0.0.0:8086", "--engine-bind", "0.0.0.0:9092", "--ui-bind", "0.0.0.0:8888", "--insecure-no-auth"]
