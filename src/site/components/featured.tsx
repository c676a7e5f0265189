import { shortCount, uptime } from '../numbers.ts'
import { Avatar } from './avatar.tsx'
import { Fact, Facts } from './facts.tsx'
import type { ShownStream } from './stream-card.tsx'
import { Tags } from './tags.tsx'

/** The channel with the most viewers, large. */
export function Featured({ stream, now, ended }: { stream: ShownStream; now: number; ended: boolean }) {
  const { user_id, user_login, user_name, title, game_id, game_name, viewer_count, started_at } = stream
  return (
    <section class="panel featured" aria-label="Most viewers">
      <span class="shot">
        <img src={`/images/channels/${user_id}-1280x720.png`} width="1280" height="720" alt="" />
        {ended ? <span class="badge">Ended</span> : <span class="live">Live</span>}
      </span>
      <div class="text">
        <p class="channel">
          <Avatar user_id={user_id} size={36} />
          {user_name}
        </p>
        <h2>
          <a href={`/${user_login}`}>{title || `${user_name} is live`}</a>
        </h2>
        {game_name !== '' && (
          <p class="quiet">
            <a href={`/?game=${game_id}`}>{game_name}</a>
          </p>
        )}
        <Tags tags={stream.tags} />
        <div class="bottom">
          <Facts>
            <Fact name="watching">{shortCount(viewer_count)}</Fact>
            <Fact name="on air">
              <time datetime={started_at}>{uptime(started_at, now)}</time>
            </Fact>
          </Facts>
          <a class="button primary" href={`/${user_login}`} aria-label={`Watch ${user_name}`}>
            Watch
          </a>
        </div>
      </div>
    </section>
  )
}
