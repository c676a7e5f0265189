/** JSON schemas: those of requests are checked by Fastify, those of answers write the JSON. */
const text = { type: 'string' }
const whole = { type: 'integer' }
const flag = { type: 'boolean' }
const id = { type: 'string', pattern: '^[0-9]{1,20}$' }
const uuid = { type: 'string', format: 'uuid' }
const list = (items: object, maxItems?: number) => ({ type: 'array', items, ...(maxItems && { maxItems }) })
const object = (properties: Record<string, object>, ...required: string[]) => {
  return { type: 'object', properties, required }
}
const fields = (type: object, names: string) => Object.fromEntries(names.split(' ').map(name => [name, type]))
const page = { first: { ...whole, minimum: 1, maximum: 100 }, after: { ...text, maxLength: 500 } }
const answer = (data: object) => {
  return { 200: object({ data: list(data), pagination: object({ cursor: text }) }, 'data') }
}

const stream = object({
  ...fields(text, 'id user_id user_login user_name game_id game_name type title'),
  ...fields(text, 'started_at language thumbnail_url'),
  ...fields(list(text), 'tag_ids tags'),
  viewer_count: whole,
  is_mature: flag,
})
const key = object({ stream_key: text })
const marker = { ...fields(text, 'id created_at description'), position_seconds: whole }
const video = object({ video_id: text, markers: list(object({ ...marker, ...fields(text, 'url URL') })) })
const markers = object({ ...fields(text, 'user_id user_login user_name'), videos: list(video) })
const times = 'timestamp last_updated updated_at'
const entitlement = object(fields(text, `id benefit_id user_id game_id fulfillment_status ${times}`))
const images = 'profile_image_url offline_image_url'
const names = `id login display_name type broadcaster_type description created_at ${images}`
const user = object({ ...fields(text, names), view_count: whole })
const channel = object({
  ...fields(text, 'broadcaster_id broadcaster_login broadcaster_name broadcaster_language'),
  ...fields(text, 'game_id game_name title'),
  ...fields(list(text), 'tags content_classification_labels'),
  delay: whole,
  is_branded_content: flag,
})

/** Of reads: the properties of a query string, the required ones, and the items of the answer. */
const read = (url: string, properties: Record<string, object>, required: string[], item: object) => {
  const schema = { querystring: object(properties, ...required), response: answer(item) }
  return { method: 'GET', url, schema }
}
const write = (method: string, url: string, body: object, item: object) => {
  return { method, url, schema: { body, response: answer(item) } }
}
const newMarker = object({ user_id: id, description: { type: 'string', maxLength: 140 } }, 'user_id')
const drops = { entitlement_ids: list(uuid, 100), fulfillment_status: { enum: ['CLAIMED', 'FULFILLED'] } }
const update = object(drops, 'entitlement_ids', 'fulfillment_status')
const [user_id, game_id, broadcaster_id, ids] = [id, id, id, list(id, 100)]
const DROPS = '/helix/entitlements/drops'

export const ROUTES = {
  getStreams: read('/helix/streams', { ...page, user_id: ids, game_id, language: text }, [], stream),
  getFollowedStreams: read('/helix/streams/followed', { ...page, user_id }, ['user_id'], stream),
  getStreamKey: read('/helix/streams/key', { broadcaster_id }, ['broadcaster_id'], key),
  getStreamMarkers: read('/helix/streams/markers', { ...page, user_id }, ['user_id'], markers),
  createStreamMarker: write('POST', '/helix/streams/markers', newMarker, object(marker)),
  getDropsEntitlements: read(DROPS, { ...page, id: list(uuid, 100), user_id, game_id }, [], entitlement),
  updateDropsEntitlements: write('PATCH', DROPS, update, object({ status: text, ids: list(text) })),
  getUsers: read('/helix/users', { id: ids }, ['id'], user),
  getChannelInformation: read('/helix/channels', { broadcaster_id: ids }, ['broadcaster_id'], channel),
}
