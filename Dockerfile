# The image of `strand serve`. It has the program, its packages and the runtime, and runs without root.

FROM node:22-bookworm-slim AS packages
WORKDIR /strand
COPY package.json package-lock.json .npmrc ./
# The runtime comes with the packages; linking its second name saves 100 MB.
RUN npm ci --omit=dev && ln -sf bun.exe node_modules/bun/bin/bunx.exe

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --user-group --no-create-home strand \
  && install -d -o strand -g strand -m 0700 /data
WORKDIR /strand
COPY --from=packages /strand/node_modules ./node_modules
COPY package.json ./
COPY src ./src
USER 10001:10001
# Others can reach the public listener, so the operator's is on loopback until somebody decides otherwise.
ENV STRAND_LISTEN=0.0.0.0:8080 \
  STRAND_OPERATOR_LISTEN=localhost:8081 \
  STRAND_DATA=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node_modules/bun/bin/bun.exe", "-e", "process.exit((await fetch('http://localhost:8080/healthz')).ok ? 0 : 1)"]
ENTRYPOINT ["node_modules/bun/bin/bun.exe", "src/main.ts"]
CMD ["serve"]
