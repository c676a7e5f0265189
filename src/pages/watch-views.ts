/** The HTML of the pages that people watch on. */
import { clockTime } from '../kit/clock-time.ts'
import { type Html, html } from '../kit/html.ts'
import type { Page, PlayerNeeds } from './layout.ts'
import { playerView } from './player-view.ts'
import { minute } from './times.ts'

const fact = (name: string, value: Html | string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
const startOf = (iso: string) => html`<time datetime="${iso}">${minute(iso)}</time>`
const titled = (title: string, otherwise: string) => (title === '' ? otherwise : title)
const counted = (count: number, one: string, many: string) =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`

export interface ListedVideo {
  readonly id: string
  readonly title: string
  readonly created_at: string
  readonly view_count: number
  readonly seconds: number
}

interface ChannelView {
  readonly id: string
  readonly login: string
  readonly display_name: string
  readonly description: string
  /** Undefined: offline. */
  readonly live:
    | {
        readonly title: string
        readonly game_name: string
        readonly viewer_count: number
        readonly started_at: string
        readonly tags: readonly string[]
        readonly seconds: number
        /** Undefined: the broadcast plays elsewhere. */
        readonly player: PlayerNeeds | undefined
      }
    | undefined
  /** Newest first. */
  readonly videos: readonly ListedVideo[]
}

/** A channel: what it broadcasts now, and its latest videos. The script replaces the parts with `data-fresh`. */
export function channelPage(view: ChannelView): Page {
  const { live, display_name, description } = view
  const poster = `/images/channels/${view.id}-1280x720.svg`
  const about =
    description === ''
      ? undefined
      : html`<section class="about" aria-labelledby="about-heading"><h2 id="about-heading">About ${display_name}</h2><p>${description}</p></section>`
  const screen =
    live &&
    (live.player
      ? playerView({
          source: `/live/${view.login}.flv`,
          poster,
          label: `Live broadcast of ${display_name}`,
        })
      : html`<div class="screen"><img src="${poster}" width="1280" height="720" alt=""><span class="badge live">Live</span><p class="elsewhere">${display_name} is live. This broadcast does not play on this page.</p></div>`)
  return {
    title: live ? `${display_name} is live` : display_name,
    width: 'full',
    ...(live?.player && { player: live.player }),
    body: html`${screen}<div class="masthead" data-fresh="masthead">
<img class="avatar" src="/images/users/${view.id}-300x300.svg" width="64" height="64" alt="">
<div class="names"><h1>${live ? titled(live.title, `${display_name} is live`) : display_name}</h1>
<p class="byline">${live ? html`<strong>${display_name}</strong>${live.game_name === '' ? undefined : html` · ${live.game_name}`}` : html`Offline`}</p>
${live && live.tags.length > 0 ? html`<ul class="tags" aria-label="Tags">${live.tags.map(tag => html`<li>${tag}</li>`)}</ul>` : undefined}</div>
${
  live
    ? html`<dl class="now">${fact('Viewers', live.viewer_count.toLocaleString('en-US'))}${fact('Uptime', html`<time datetime="${live.started_at}" data-since="${live.started_at}">${clockTime(live.seconds)}</time>`)}</dl>`
    : undefined
}</div>
${about}${videoSection(live ? 'Past videos' : 'Videos', view.videos, `${display_name} has no videos yet.`)}`,
  }
}

function videoSection(heading: string, videos: readonly ListedVideo[], ifNone: string): Html {
  const cards = videos.map(
    video =>
      html`<li><a href="/videos/${video.id}"><span class="picture"><img src="/images/videos/${video.id}-640x360.svg" width="640" height="360" alt="" loading="lazy"><span class="badge">${clockTime(video.seconds)}</span></span><strong>${titled(video.title, 'Untitled video')}</strong></a><p class="small quiet">${startOf(video.created_at)} · ${counted(video.view_count, 'view', 'views')}</p></li>`,
  )
  return html`<section aria-labelledby="videos-heading" data-fresh="videos"><h2 id="videos-heading">${heading}</h2>${cards.length === 0 ? html`<p class="quiet">${ifNone}</p>` : html`<ul class="cards">${cards}</ul>`}</section>`
}

interface VideoView {
  readonly id: string
  readonly user_id: string
  readonly user_login: string
  readonly user_name: string
  readonly title: string
  readonly created_at: string
  readonly view_count: number
  readonly game: string | undefined
  readonly isLive: boolean
  readonly seconds: number
  /** The position that the link points to. */
  readonly position: number | undefined
}

/** A video without a recording, or whose stream is still live. */
export function videoPage(view: VideoView): Page {
  const { position, seconds } = view
  const title = titled(view.title, 'Untitled video')
  const point =
    position === undefined
      ? undefined
      : html`<div class="position"><progress value="${Math.min(position, seconds)}" max="${Math.max(seconds, 1)}" aria-label="Position in the video"></progress><p class="small">This link points to <strong>${clockTime(position)}</strong></p></div>`
  return {
    title,
    width: 'wide',
    body: html`<article class="card video"><div class="picture"><img src="/images/videos/${view.id}-640x360.svg" width="640" height="360" alt=""><span class="badge${view.isLive ? ' live' : ''}">${view.isLive ? 'Live' : clockTime(seconds)}</span></div>${point}
<h1>${title}</h1>
<p class="channel"><img src="/images/users/${view.user_id}-300x300.svg" width="40" height="40" alt=""><a href="/${view.user_login}"><strong>${view.user_name}</strong></a></p>
<dl class="facts">${fact('Started', startOf(view.created_at))}${fact(view.isLive ? 'Duration so far' : 'Duration', clockTime(seconds))}${fact('Game', view.game ?? 'No game')}</dl></article>`,
  }
}

/** A video that plays, from the position that the link points to. */
export function recordedVideoPage(
  view: VideoView & { readonly others: readonly ListedVideo[] },
  player: PlayerNeeds,
): Page {
  const title = titled(view.title, 'Untitled video')
  const start = Math.min(view.position ?? 0, view.seconds)
  return {
    title,
    width: 'full',
    player,
    body: html`${playerView({
      source: `/videos/${view.id}.flv`,
      poster: `/images/videos/${view.id}-1280x720.svg`,
      label: title,
      recording: { seconds: view.seconds, start },
    })}<div class="masthead">
<img class="avatar" src="/images/users/${view.user_id}-300x300.svg" width="64" height="64" alt="">
<div class="names"><h1>${title}</h1>
<p class="byline"><a href="/${view.user_login}"><strong>${view.user_name}</strong></a> · ${view.game ?? 'No game'}</p></div>
<dl class="now">${fact('Started', startOf(view.created_at))}${fact('Duration', clockTime(view.seconds))}${fact('Views', view.view_count.toLocaleString('en-US'))}</dl></div>
${videoSection(`More of ${view.user_name}`, view.others, `${view.user_name} has no other videos.`)}`,
  }
}
