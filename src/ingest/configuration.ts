/** The configuration that connects a media server to Strand, ready to be copied. */
import type { AdapterName } from '../contract/resources/media-server.ts'
import { sha256Hex } from '../kit/crypto/digest.ts'
import { INGEST_APPLICATION, PLAYBACK_APPLICATION } from './adapters/nginx-rtmp.ts'
import { deriveApiSecret } from './api-secret.ts'

/** Where the API of a media server is, as the configuration sets it up. Undefined: Strand uses none. */
export const STANDARD_API_URLS: Readonly<Record<AdapterName, string | undefined>> = {
  'nginx-rtmp': 'http://127.0.0.1:8088',
  mediamtx: 'http://127.0.0.1:9997',
  srs: 'http://127.0.0.1:1985',
  'node-media-server': 'http://127.0.0.1:8000',
  generic: undefined,
}

/** The URL for the callbacks of a media server. `strandUrl` is where the control API is. */
export function callbackUrl(
  strandUrl: string,
  {
    adapter,
    name,
    secret,
    recordingsUrl,
  }: {
    readonly adapter: AdapterName
    readonly name: string
    readonly secret: string
    /** Where viewers get its recordings. */
    readonly recordingsUrl?: string | undefined
  },
): string {
  // Media servers that resolve a name once may get the wrong one of its addresses.
  const base = strandUrl.replace('//localhost', '//127.0.0.1').replace(/\/+$/, '')
  const query = recordingsUrl === undefined ? '' : `?recordings=${recordingsUrl}`
  return `${base}/ingest/${adapter}/${name}/${secret}${query}`
}

export function writeConfiguration(
  adapter: AdapterName,
  callback: string,
  apiUrl: string | null,
  more: { readonly secret?: string | undefined; readonly recordingsUrl?: string | undefined } = {},
): string {
  return CONFIGURATIONS[adapter](callback, apiUrl === null ? undefined : new URL(apiUrl), {
    apiSecret: more.secret === undefined ? '<secret>' : deriveApiSecret(sha256Hex(more.secret)),
    records: more.recordingsUrl !== undefined,
  })
}

type Configuration = (
  callback: string,
  api: URL | undefined,
  more: { readonly apiSecret: string; readonly records: boolean },
) => string

const apiAddress = (api: URL | undefined, standard: string): string => api?.host || standard
const apiPort = (api: URL | undefined, standard: string): string => api?.port || standard

const NGINX_RECORDINGS = '/var/lib/nginx/recordings'

const nginxRtmp: Configuration = (
  callback,
  api,
  { records },
) => `# nginx.conf for Debian, with the package libnginx-mod-rtmp.
# OBS: server rtmp://<host>/${INGEST_APPLICATION}, stream key as shown by Strand.
# Statistics and kicks answer for one worker process only.
worker_processes 1;
user www-data;
include /etc/nginx/modules-enabled/*.conf;
events { worker_connections 1024; }

rtmp {
    server {
        listen 1935;

        # Accepts publishers. Strand answers with the login as the new name, so the key is in no file, page or log.
        application ${INGEST_APPLICATION} {
            live on;
            on_publish ${callback};
            on_publish_done ${callback};
            push rtmp://127.0.0.1:1935/${PLAYBACK_APPLICATION};${
              records
                ? `
            record all;
            record_path ${NGINX_RECORDINGS};
            record_unique on;
            on_record_done ${callback};`
                : ''
            }
        }

        # Plays and packages the broadcasts, by login.
        application ${PLAYBACK_APPLICATION} {
            live on;
            allow publish 127.0.0.1;
            deny publish all;
            hls on;
            hls_path /var/lib/nginx/hls;
            hls_fragment 2s;
        }
    }
}

http {
    # For Strand only.
    server {
        listen ${apiAddress(api, '127.0.0.1:8088')};
        access_log off;
        location /stat { rtmp_stat all; }
        location /control { rtmp_control all; }
    }

    # For viewers: /hls/<login>.m3u8
    server {
        listen 8090;
        location /hls {
            alias /var/lib/nginx/hls;
            types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; }
            add_header Cache-Control no-cache;
            add_header Access-Control-Allow-Origin * always;
        }${
          records
            ? `
        # /recordings/<login>-<time>.flv
        location /recordings {
            alias ${NGINX_RECORDINGS};
            types { video/x-flv flv; }
            add_header Access-Control-Allow-Origin * always;
        }`
            : ''
        }
    }
}
`

const mediamtx: Configuration = (callback, api) => `# mediamtx.yml
# OBS: server rtmp://<host>/live, stream key <login>?token=<stream key>.
# The path is also the path of viewers, so the stream key must not be part of it.
authMethod: http
authHTTPAddress: ${callback}
# Viewers are not asked for; the API is for Strand, so keep its address private.
authHTTPExclude:
  - action: read
  - action: playback
  - action: api
  - action: metrics
  - action: pprof

api: yes
apiAddress: ${apiAddress(api, '127.0.0.1:9997')}

# Picture and sound in the same segments: the player of Strand plays other variants without sound.
hlsVariant: mpegts

paths:
  "~^live/[a-z0-9_]{1,25}$": {}
`

const srs: Configuration = (callback, api) => `# srs.conf
# OBS: server rtmp://<host>/live, stream key <login>?key=<stream key>.
# The name is also the path of viewers, so the stream key must not be the name.
listen 1935;
daemon off;

http_api {
    enabled on;
    listen ${apiPort(api, '1985')};
}

vhost __defaultVhost__ {
    http_hooks {
        enabled on;
        on_publish ${callback};
        on_unpublish ${callback};
    }
}
`

/** JSON has no comments, and node-media-server ignores names that it does not know. */
const nodeMediaServer: Configuration = (callback, api, { apiSecret, records }) =>
  `${JSON.stringify(
    {
      about: [
        'config.json for node-media-server 4.',
        'OBS: server rtmp://<host>/live, stream key <login>?key=<stream key>.',
        'It lets publishers in before it asks, and if Strand does not answer: use another one for strangers.',
      ],
      rtmp: { port: 1935 },
      http: { port: Number(apiPort(api, '8000')) },
      ...(records && {
        record: { path: NODE_RECORDINGS },
        static: { router: '/recordings', root: NODE_RECORDINGS },
      }),
      store: { path: '/var/lib/node-media-server/data' },
      webadmin: { enable: false },
      auth: { play: false, publish: false, secret: 'unused', jwt: { secret: apiSecret, users: [] } },
      notify: { url: callback },
    },
    null,
    2,
  )}\n`

const NODE_RECORDINGS = '/var/lib/node-media-server/recordings'

const generic: Configuration = callback => `# Before a publisher starts; 200 lets it in, 403 does not:
curl -X POST -H 'Content-Type: application/json' ${callback} \\
  -d '{"event":"publish","session":"<id of the publisher>","key":"<stream key>","address":"<its IP address>"}'

# While it broadcasts, every few seconds; 403 asks to disconnect it:
curl -X POST -H 'Content-Type: application/json' ${callback} -d '{"event":"alive","session":"<id of the publisher>"}'

# When it has ended:
curl -X POST -H 'Content-Type: application/json' ${callback} -d '{"event":"end","session":"<id of the publisher>"}'
`

const CONFIGURATIONS: Readonly<Record<AdapterName, Configuration>> = {
  'nginx-rtmp': nginxRtmp,
  mediamtx,
  srs,
  'node-media-server': nodeMediaServer,
  generic,
}
