/** The studio: going live, the broadcast, its markers, the channel, its editors and videos (D-156). */
import type { Client } from '../../client/index.ts'
import { markerFormats } from '../../contract/resources/marker-file.ts'
import type { Scope } from '../../contract/scope.ts'
import { campaignPhase } from '../../domain/campaign.ts'
import { parseProfileLink } from '../../domain/profile-link.ts'
import { parsePosition } from '../../domain/timeline.ts'
import { toShownStream } from '../components/stream-card.tsx'
import type { Page } from '../render/page.ts'
import { apiFor } from '../request/api-for.ts'
import type { Browser } from '../request/browser.ts'
import { findBroadcast } from '../request/find-broadcast.ts'
import type { PageHandler, PageServices, SessionServices } from '../request/session.ts'
import { findMarkedVideo } from '../scripts/marked-video.ts'
import { channelPage } from './channel-view.tsx'
import { editorsPage } from './editors-view.tsx'
import { livePage, type StudioCampaign } from './live-view.tsx'
import { SECTIONS, type StudioSection } from './sections.ts'
import {
  forbidden,
  isStudioContext,
  openStudioContext,
  type StudioContext,
  studioPath,
} from './studio-context.ts'
import type { StudioNotices } from './studio-frame.tsx'
import { videosPage } from './videos-view.tsx'

export type StudioServices = SessionServices &
  Pick<PageServices, 'siteTokens' | 'callApi' | 'publicUrl' | 'rtmpUrl' | 'streamKeys' | 'demo' | 'campaigns'>

/** What the page needs while it is rendered; its scripts need less. */
const RENDERING: Readonly<Record<'owner' | 'editor', readonly Scope[]>> = {
  owner: ['channel:manage:broadcast', 'channel:read:editors'],
  editor: ['channel:manage:broadcast'],
}
const VIDEOS = 12

/** Confirmations, shown once after a form. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['channel', 'Saved. Viewers see the change at once.'],
  ['key', 'Your channel has a new stream key.'],
  ['marker-added', 'Marker added.'],
  ['marker-renamed', 'Marker renamed.'],
  ['marker-deleted', 'Marker deleted.'],
  ['editor-added', 'Editor added.'],
  ['editor-removed', 'Editor removed.'],
  ['video-renamed', 'Video renamed.'],
  ['video-deleted', 'Video deleted, with its markers.'],
])

/** GET /studio, /studio/<login>, and its other pages. */
export const showStudio =
  (section: StudioSection): PageHandler<StudioServices> =>
  async (browser, services) => {
    const context = await openStudioContext(browser, services)
    if (!isStudioContext(context)) return context
    const isAllowed = context.isOwner || SECTIONS.some(each => each.section === section && each.forEditors)
    if (!isAllowed) return forbidden(`Only ${context.channel.display_name} can see this.`)
    return renderStudio(browser, services, {
      context,
      section,
      done: DONE.get(browser.parameter('done') ?? ''),
    })
  }

interface StudioRequest extends StudioNotices {
  readonly context: StudioContext
  readonly section: StudioSection
}

export async function renderStudio(
  browser: Browser,
  services: StudioServices,
  { context, section, ...notices }: StudioRequest,
): Promise<Page> {
  const { store, clock, rtmpUrl } = services
  const { channel, isOwner, session } = context
  const client = await apiFor(browser, services, RENDERING[isOwner ? 'owner' : 'editor'])
  const view = {
    channel,
    isOwner,
    me: session,
    edited: await store.channels.editedBy(session.user_id),
    csrf: browser.csrfToken(),
    now: clock.now(),
    ...notices,
  }
  switch (section) {
    case 'live':
      return livePage({ ...view, rtmpUrl, ...(await readLive(services, client, channel.id)) })
    case 'videos':
      return videosPage({ ...view, ...(await readVideos(client, channel.id, browser.parameter('after'))) })
    case 'channel': {
      const { description = '', links = [] } = (await store.users.find(channel.id)) ?? {}
      return channelPage({ ...view, rtmpUrl, description, links: links.map(parseProfileLink) })
    }
    case 'editors': {
      const { data } = await client.helix.getChannelEditors({ broadcaster_id: channel.id })
      return editorsPage({ ...view, editors: data })
    }
  }
}

async function readLive(services: StudioServices, client: Client, user_id: string) {
  const { helix } = client
  const [described, streams, marked, { encoder, broadcast }] = await Promise.all([
    helix.getChannelInformation({ broadcaster_id: [user_id] }),
    helix.getStreams({ user_id: [user_id] }),
    findMarkedVideo(client, user_id),
    findOwnBroadcast(services, user_id),
  ])
  const [[about], [stream]] = [described.data, streams.data]
  const campaigns = listCampaigns(services, user_id, about?.game_id ?? '')
  return { live: stream && toShownStream(stream), encoder, broadcast, about, campaigns, marked }
}

async function readVideos({ helix }: Client, user_id: string, after: string | undefined) {
  const [videos, streams] = await Promise.all([
    helix.getVideos({ user_id, first: VIDEOS, ...(after && { after }) }),
    helix.getStreams({ user_id: [user_id] }),
  ])
  const [stream] = streams.data
  return {
    videos: videos.data.map(video => ({
      ...video,
      seconds: parsePosition(video.duration) ?? 0,
      isLive: stream !== undefined && video.stream_id === stream.id,
    })),
    moreVideos: videos.pagination.cursor,
  }
}

/** The campaigns of a game that run or will run, the next start first. */
function listCampaigns(
  { campaigns, clock }: Pick<StudioServices, 'campaigns' | 'clock'>,
  channel_id: string,
  game_id: string,
): StudioCampaign[] {
  const now = clock.now()
  return campaigns
    .forGame(game_id)
    .map(({ campaign, times, channels }) => ({
      id: campaign.id,
      name: campaign.name,
      starts_at: campaign.starts_at,
      ends_at: campaign.ends_at,
      phase: campaignPhase(times, now),
      isAdmitted: channels === undefined || channels.has(channel_id),
    }))
    .filter(({ phase }) => phase === 'active' || phase === 'upcoming')
    .sort((a, b) => (a.starts_at < b.starts_at ? -1 : 1))
}

/** What is known of the broadcast where it arrives. */
async function findOwnBroadcast(services: Pick<StudioServices, 'store' | 'demo'>, user_id: string) {
  const { store } = services
  const [encoder, stream] = await Promise.all([store.streams.encoderOf(user_id), store.streams.of(user_id)])
  return { encoder, broadcast: stream && (await findBroadcast(services, stream)) }
}

/** GET /studio/<login>/status: what the encoder sends, for the script of the page. */
export const showStudioStatus: PageHandler = async (browser, services: StudioServices) => {
  const context = await openStudioContext(browser, services)
  if (!isStudioContext(context))
    return { status: 403, json: { message: 'Log in as the broadcaster or an editor.' } }
  const { encoder, broadcast } = await findOwnBroadcast(services, context.channel.id)
  return { json: { encoder: encoder ?? null, broadcast: broadcast ?? null } }
}

/** GET /studio/<login>/markers/export: the file of ExportStreamMarkers, by a link. */
export const showMarkerFile: PageHandler = async (browser, services: StudioServices) => {
  const context = await openStudioContext(browser, services)
  if (!isStudioContext(context)) return context
  const format = browser.parameter('format') ?? ''
  const video_id = browser.parameter('video_id') ?? ''
  if (!isMarkerFormat(format)) return { goTo: `${studioPath(context.channel.login)}#markers` }
  const { helix } = await apiFor(browser, services, RENDERING.editor)
  const text = await helix.exportStreamMarkers({ video_id, format })
  const { mediaType, ending } = markerFormats[format]
  return { file: { name: `${context.channel.login}-${video_id}${ending}`, mediaType, content: text } }
}

const isMarkerFormat = (text: string): text is keyof typeof markerFormats =>
  Object.hasOwn(markerFormats, text)
