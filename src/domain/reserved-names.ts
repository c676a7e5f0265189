/** First segments of paths that the server answers, now or soon: a channel has its page at `/<login>`. */
export const RESERVED_NAMES: readonly string[] =
  `about account activate admin api assets auth console control directory docs drops eventsub follow games healthz help helix
   images ingest live login logout metrics mock oauth2 openapi playback privacy readyz search settings signup site static
   strand studio terms users videos ws www`.split(/\s+/)
const RESERVED: ReadonlySet<string> = new Set(RESERVED_NAMES)

/** Whether no new user may have this login. Those who have it keep it, without a page (D-128). */
export const isReservedName = (login: string): boolean => RESERVED.has(login.toLowerCase())
