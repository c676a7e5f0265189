/** Names of fields as people read them. */
const LABELS: Readonly<Record<string, string>> = {
  id: 'ID',
  igdb_id: 'IGDB ID',
  api_url: 'API URL',
  playback_url: 'Playback URL',
  redirect_uris: 'Redirect URIs',
  user_id: 'User',
  user_login: 'Channel',
  owner_user_id: 'Owner',
  editor_id: 'Editor',
  seq: 'No.',
  at: 'Time',
  timestamp: 'Granted',
  fulfillment_status: 'Status',
  answer_status: 'HTTP status',
  milliseconds: 'Milliseconds',
  times: 'Calls',
  duration_seconds: 'Duration',
  viewer_count: 'Viewers',
  view_count: 'Views',
  marker_count: 'Markers',
  is_live: 'Live',
  is_mature: 'For adults only',
  vod_enabled: 'Keep videos',
  delay: 'Delay in seconds',
  display_name: 'Name',
  login: 'Login',
  created_at: 'Created',
  started_at: 'Started',
  due_at: 'Due',
  last_updated: 'Updated',
  broadcaster_type: 'Type',
  expires_in: 'Lifetime in seconds',
}

export function labelOf(name: string): string {
  const words =
    LABELS[name] ??
    name
      .replace(/_ids?$/, '')
      .replace(/_at$/, '')
      .replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
