# One image for every role; PHAROS_ROLES chooses. Debian slim and not Alpine: uWebSockets.js, chDB, LMDB and the other native
# parts have glibc binaries only. They come from the npm registry, so no compiler is needed.
FROM node:22.20.0-bookworm-slim AS build
WORKDIR /pharos
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs && npm prune --omit=dev --no-audit --no-fund

FROM node:22.20.0-bookworm-slim
# The spool and, where no other store is named, the embedded stores live here.
RUN mkdir -p /var/lib/pharos && chown node:node /var/lib/pharos && chmod 700 /var/lib/pharos
WORKDIR /pharos
COPY --from=build /pharos/package.json ./
COPY --from=build /pharos/node_modules ./node_modules
COPY --from=build /pharos/dist ./dist
COPY --from=build /pharos/clients/browser/bundle ./clients/browser/bundle
COPY --from=build /pharos/schemas ./schemas
COPY --from=build /pharos/control-plane/pages/looks/styles ./control-plane/pages/looks/styles
COPY --from=build /pharos/control-plane/pages/documents/page.client.js ./control-plane/pages/documents/page.client.js
ENV NODE_ENV=production PHAROS_DATA_DIR=/var/lib/pharos HOST=0.0.0.0 PORT=8080 EDGE_PORT=8081
USER node
VOLUME /var/lib/pharos
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
# An edge by itself answers on EDGE_PORT, every other role on PORT.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "const { PHAROS_ROLES, PORT, EDGE_PORT } = process.env; fetch(`http://127.0.0.1:${PHAROS_ROLES === 'edge' ? EDGE_PORT : PORT}/readyz`, { signal: AbortSignal.timeout(4000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Not by npm: it would stand between the engine's SIGTERM and Pharos.
CMD ["node", "dist/main.js"]
