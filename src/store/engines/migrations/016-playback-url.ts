import type { Dialect } from '../../sql/tag.ts'

/** `playback_url` of a media server is where viewers find its HLS playlists, with `{login}` in place of the channel. */
export const playbackUrl = (_dialect: Dialect): string => `
alter table media_servers add column if not exists playback_url text;
`
