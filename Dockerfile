# A small container around the single executable: docker build -t tsdb . && docker run -p 8181:8181 -p 8183:8183 -p 8086:8086 -v tsdb-data:/data tsdb
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json bunfig.toml ./
COPY src/tools/bun.mjs src/tools/launch.mjs src/tools/
# without lifecycle scripts: bun.mjs starts the platform package's Bun
RUN npm install --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

# the same Debian as above, so that the C library is that of the executable's build
FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/tsdb --create-home tsdb \
  && install --directory --owner tsdb --group tsdb --mode 0700 /data
COPY --from=build /src/dist/tsdb /usr/local/bin/tsdb
USER tsdb
# where the executable unpacks DuckDB's library at its first start
ENV TSDB_CACHE_DIR=/var/lib/tsdb/cache
VOLUME /data
# HTTP, Arrow Flight, and the bucket-based API
EXPOSE 8181 8183 8086
# the image has no curl; bash speaks TCP
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["bash", "-c", \
  "exec 3<>/dev/tcp/127.0.0.1/8181 && printf 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["tsdb"]
CMD ["serve", "--data-dir", "/data", "--http-bind", "0.0.0.0:8181", "--flight-bind", "0.0.0.0:8183", "--v2-http-bind", "0.0.0.0:8086", "--disable-authz", "health"]
