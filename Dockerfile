# The image of `strand serve`: one executable, and the licenses of what it contains. It runs without root, and with a read-only root file system.
# With `--build-arg FFMPEG=on` it also has ffmpeg, for thumbnails of broadcasts.
# Base images are pinned by digest: docs/self-hosting.md describes how to update them.

FROM node:22.23.3-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c AS build
WORKDIR /strand
COPY package.json package-lock.json .npmrc ./
# No install script is needed: the runtime is used from where npm unpacks it.
RUN npm ci --ignore-scripts
COPY bin ./bin
COPY src ./src
COPY build ./build
RUN npm run build && node bin/run.js build/bundled-packages.ts > dist/licenses.txt

FROM debian:bookworm-20260824-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171
ARG FFMPEG=off
RUN if [ "$FFMPEG" = on ]; then \
    apt-get update && apt-get install -y --no-install-recommends ffmpeg && rm -rf /var/lib/apt/lists/*; \
  fi
RUN useradd --system --uid 10001 --user-group --no-create-home strand \
  && install -d -o strand -g strand -m 0700 /data
COPY --from=build /strand/dist/strand /usr/local/bin/strand
COPY --from=build /strand/dist/licenses.txt /usr/share/doc/strand-server/
USER 10001:10001
# Others can reach the public listener, so the operator listener defaults to loopback. For the delay see ADR 0049.
ENV MIMALLOC_PURGE_DELAY=10000 \
  STRAND_LISTEN=0.0.0.0:8080 \
  STRAND_OPERATOR_LISTEN=localhost:8081 \
  STRAND_DATA=/data
VOLUME /data
# HTTP, and RTMP where STRAND_RTMP_LISTEN is set.
EXPOSE 8080 1935
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["/usr/local/bin/strand", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/strand"]
CMD ["serve"]
