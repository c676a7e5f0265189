/** The hosts of the real API, which libraries have in fixed URLs: the API, log-in, and events by WebSocket. */
export const KNOWN_HOSTS: readonly string[] = ['api.twitch.tv', 'id.twitch.tv', 'eventsub.wss.twitch.tv']
