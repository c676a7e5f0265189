/** @jsxRuntime automatic @jsxImportSource preact */
/** The broadcast while it runs: preview, viewers, and what the encoder sends. */
import { useEffect, useState } from 'preact/hooks'
import type { EncoderStatus } from '../../domain/encoder-status.ts'
import { findHealthProblems } from '../../domain/stream-health.ts'
import { clockTime } from '../../kit/time/clock-time.ts'
import { LineChart } from '../charts/line-chart.tsx'
import { addPoint, type History, keepHistory, keptHistory, readHistory } from '../charts/viewer-history.ts'
import { Fact, Facts } from '../components/facts.tsx'
import { Preview } from '../components/preview.tsx'
import type { ShownStream } from '../components/stream-card.tsx'
import type { Broadcast } from '../player/broadcast.ts'
import { api } from '../scripts/api.ts'
import { everyFewSeconds } from '../scripts/every-few-seconds.ts'
import { island } from '../scripts/island.tsx'
import { useServerTime } from '../scripts/server-time.ts'

interface StudioLiveProps {
  readonly user_id: string
  readonly login: string
  readonly name: string
  readonly isOwner: boolean
  /** The time of the server, in milliseconds since 1970. */
  readonly now: number
  readonly stream?: ShownStream
  readonly encoder?: EncoderStatus
  /** Its video, if this site can play it. */
  readonly broadcast?: Broadcast
}

interface Status {
  readonly encoder: EncoderStatus | null
  readonly broadcast: Broadcast | null
}

const REFRESH_MILLISECONDS = 3000

export const StudioLive = island('studio-live', function StudioLive(props: StudioLiveProps) {
  const { user_id, login, name, isOwner } = props
  const [stream, setStream] = useState(props.stream)
  const [status, setStatus] = useState<Status>({
    encoder: props.encoder ?? null,
    broadcast: props.broadcast ?? null,
  })
  const [history, setHistory] = useState<History>(() => readHistory(props.stream, props.now))
  const now = useServerTime(props.now, 1000)

  useEffect(() => {
    const ahead = props.now - Date.now()
    if (props.stream) setHistory(before => keptHistory(props.stream?.id ?? '') ?? before)
    return everyFewSeconds(REFRESH_MILLISECONDS, async () => {
      const [{ data }, response] = await Promise.all([
        api().helix.getStreams({ user_id: [user_id] }),
        fetch(`/studio/${login}/status`, { headers: { Accept: 'application/json' } }),
      ])
      const [live] = data
      setStream(live)
      if (response.ok) setStatus((await response.json()) as Status)
      if (live === undefined) return
      setHistory(before => {
        const after = addPoint(before, live, Date.now() + ahead)
        keepHistory(after)
        return after
      })
    })
  }, [])

  if (stream === undefined) return <Offline login={login} name={name} isOwner={isOwner} />
  return (
    <>
      <section class="panel" aria-labelledby="live-heading">
        <div class="head">
          <h2 id="live-heading">{stream.title || `${name} is live`}</h2>
          <span class="live">Live</span>
          <a class="button" href={`/${login}`}>
            View channel
          </a>
        </div>
        {isElsewhere(status.broadcast, props.broadcast) ? (
          <p class="quiet">
            Your broadcast arrives. <a href={`/studio/${login}`}>Load the page again</a> to see the preview.
          </p>
        ) : (
          <BroadcastPreview key={stream.id} user_id={user_id} broadcast={status.broadcast} />
        )}
        <Facts>
          <Fact name="watching">{stream.viewer_count.toLocaleString('en-US')}</Fact>
          <Fact name="on air">
            {clockTime(Math.max(0, Math.floor((now - Date.parse(stream.started_at)) / 1000)))}
          </Fact>
          {status.encoder !== null && <EncoderFacts {...status.encoder} />}
        </Facts>
        {status.encoder !== null && <Health {...status.encoder} />}
        {status.encoder === null && (
          <p class="quiet small">
            What your encoder sends is shown here, for broadcasts on the embedded media server.
          </p>
        )}
      </section>
      <section class="panel" aria-labelledby="viewers-heading">
        <h2 id="viewers-heading">Viewers</h2>
        <LineChart
          label="Viewers"
          isCount
          times={history.times}
          lines={[{ name: 'Viewers', values: history.viewers }]}
        />
      </section>
    </>
  )
})

/** Whether the broadcast comes from an origin that the policy of the page does not allow. */
const isElsewhere = (now: Broadcast | null, then: Broadcast | undefined): boolean =>
  now !== null && now.origin !== null && now.origin !== then?.origin

function EncoderFacts(encoder: EncoderStatus) {
  const { width, height, frames_per_second, video_codec, audio_codec } = encoder
  const codecs = [video_codec, audio_codec].filter(codec => codec !== undefined).join(' · ')
  return (
    <>
      <Fact name="bitrate">{bitrate(encoder.kilobits_per_second)}</Fact>
      {width !== undefined && height !== undefined && (
        <Fact name={codecs === '' ? 'resolution' : codecs}>
          {width} × {height}
        </Fact>
      )}
      <Fact name="frame rate">{Math.round(frames_per_second)} fps</Fact>
    </>
  )
}

/** What is wrong, and what to do about it. */
function Health(encoder: EncoderStatus) {
  const problems = findHealthProblems(encoder)
  return (
    <div class="health" role="status">
      {problems.length === 0 ? (
        <p class="good">Your stream is healthy.</p>
      ) : (
        <ul>
          {problems.map(({ problem, advice }) => (
            <li key={problem}>
              <strong>{problem}</strong> {advice}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function bitrate(kilobits: number): string {
  return kilobits < 1000 ? `${kilobits} kbit/s` : `${(kilobits / 1000).toFixed(1)} Mbit/s`
}

function BroadcastPreview({ user_id, broadcast }: { user_id: string; broadcast: Broadcast | null }) {
  const [isShown, setIsShown] = useState(true)
  const poster = `/images/channels/${user_id}-1280x720.png`
  return (
    <div class="preview">
      {broadcast && isShown ? (
        <Preview user_id={user_id} broadcast={broadcast} label="Preview of the broadcast, muted" />
      ) : (
        <img src={poster} width="1280" height="720" alt="" />
      )}
      {broadcast && (
        <button type="button" class="small-button on-picture" onClick={() => setIsShown(!isShown)}>
          {isShown ? 'Hide preview' : 'Show preview'}
        </button>
      )}
    </div>
  )
}

function Offline({ login, name, isOwner }: { login: string; name: string; isOwner: boolean }) {
  return (
    <section class="panel offline" aria-labelledby="live-heading">
      <div class="head">
        <h2 id="live-heading">{isOwner ? 'You are offline' : `${name} is offline`}</h2>
        <a class="button" href={`/${login}`}>
          View channel
        </a>
      </div>
      <div class="waiting" role="status">
        <span class="pulse" aria-hidden="true" />
        <p>
          <strong>Waiting for {isOwner ? 'your' : 'an'} encoder</strong>
          <br />
          <span class="quiet">The broadcast appears here as soon as it arrives.</span>
        </p>
      </div>
      {isOwner && (
        <ol class="first-steps">
          <li>
            In OBS, open <em>Settings → Stream</em> and choose the service <em>Custom</em>.
          </li>
          <li>
            Copy <a href="#go-live">server and stream key</a> from this page.
          </li>
          <li>
            Give your stream <a href="#channel">a title and a game</a>, and press <em>Start Streaming</em>.
          </li>
        </ol>
      )}
    </section>
  )
}
