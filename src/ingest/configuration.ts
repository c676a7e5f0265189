/** The configuration that connects a media server to Strand, ready to be copied. */
import type { AdapterName } from '../contract/resources/media-server.ts'
import { INGEST_APPLICATION, PLAYBACK_APPLICATION } from './adapters/nginx-rtmp.ts'

/** Where the API of a media server is, as the configuration sets it up. Undefined: Strand uses none. */
export const STANDARD_API_URLS: Readonly<Record<AdapterName, string | undefined>> = {
  'nginx-rtmp': 'http://127.0.0.1:8088',
  mediamtx: 'http://127.0.0.1:9997',
  srs: 'http://127.0.0.1:1985',
  ovenmediaengine: undefined,
  'node-media-server': undefined,
  owncast: 'http://127.0.0.1:8080',
  generic: undefined,
}

/** The URL for the callbacks of a media server. `strandUrl` is where the control API is. */
export function callbackUrl(strandUrl: string, adapter: AdapterName, name: string, secret: string): string {
  // Media servers that resolve a name once may get the wrong one of its addresses.
  const base = strandUrl.replace('//localhost', '//127.0.0.1').replace(/\/+$/, '')
  return `${base}/ingest/${adapter}/${name}/${secret}`
}

export function configurationOf(adapter: AdapterName, callback: string, apiUrl: string | null): string {
  return CONFIGURATIONS[adapter](callback, apiUrl === null ? undefined : new URL(apiUrl))
}

type Configuration = (callback: string, api: URL | undefined) => string

const addressOf = (api: URL | undefined, standard: string): string => api?.host || standard
const portOf = (api: URL | undefined, standard: string): string => api?.port || standard

const nginxRtmp: Configuration = (
  callback,
  api,
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
            push rtmp://127.0.0.1:1935/${PLAYBACK_APPLICATION};
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
        listen ${addressOf(api, '127.0.0.1:8088')};
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
            add_header Access-Control-Allow-Origin *;
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
apiAddress: ${addressOf(api, '127.0.0.1:9997')}

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
    listen ${portOf(api, '1985')};
}

vhost __defaultVhost__ {
    http_hooks {
        enabled on;
        on_publish ${callback};
        on_unpublish ${callback};
    }
}
`

const ovenMediaEngine: Configuration = callback => `<!-- Server.xml, inside <VirtualHost> -->
<!-- OBS: server rtmp://<host>:1935/app, stream key as shown by Strand, which answers with a URL without it. -->
<AdmissionWebhooks>
    <ControlServerUrl>${callback}</ControlServerUrl>
    <!-- Required by OvenMediaEngine. Strand recognizes the server by the secret in the URL. -->
    <SecretKey>unused</SecretKey>
    <Timeout>3000</Timeout>
    <Enables>
        <Providers>rtmp,srt,whip</Providers>
        <Publishers>webrtc,llhls</Publishers>
    </Enables>
</AdmissionWebhooks>
`

const nodeMediaServer: Configuration = callback => `// Options of node-media-server 4.
// OBS: server rtmp://<host>/live, stream key <login>?key=<stream key>.
// It lets a publisher in before it asks, and if Strand does not answer: use another media server for strangers.
{
  "rtmp": { "port": 1935 },
  "notify": { "url": "${callback}" }
}
`

const owncast: Configuration =
  callback => `Owncast checks its stream keys itself and has one channel, the one given with --user.
In its admin page, under Integrations > Webhooks, add

  ${callback}

with the events "stream started" and "stream stopped".
`

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
  ovenmediaengine: ovenMediaEngine,
  'node-media-server': nodeMediaServer,
  owncast,
  generic,
}
