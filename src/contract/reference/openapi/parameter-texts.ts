/** What parameters mean that the contract leaves without words, because tables show them beside their operation. */
const TEXTS: Readonly<Record<string, string>> = {
  'Idempotency-Key': 'The same in each retry of a request.',
  editor_id: 'The user id of the editor.',
  broadcaster_id: 'The user id of the broadcaster.',
  owner_user_id: 'The user id of the owner.',
  igdb_id: 'The id of the game at IGDB.',
  id: 'The id.',
  name: 'The name.',
  login: 'The login of the user.',
  type: 'The type.',
  status: 'The status.',
  format: 'The format of the file.',
  since: 'The earliest time.',
  until: 'The first time after the last.',
}

export function textOfParameter(name: string): string | undefined {
  const [, resource] = /^(.+)_id$/.exec(name) ?? []
  return TEXTS[name] ?? (resource && `The id of the ${resource.replaceAll('_', ' ')}.`)
}
