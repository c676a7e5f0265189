import { isKnownScope, type KnownScope } from '../contract/scope.ts'

/** What each scope lets an application do, in words for the person who is asked. */
const WORDS: Readonly<Record<KnownScope, string>> = {
  openid: 'See who you are: your user id and display name',
  'user:read:entitlements': 'See the drops that you have earned',
  'user:manage:entitlements': 'Mark your drops as handed out or not',
  'user:read:follows': 'See which channels you follow',
  'channel:read:stream_key': 'See your stream key, with which anyone can broadcast as you',
  'channel:manage:broadcast': 'Set markers in your streams, and change your channel',
  'user:read:broadcast': 'See the markers in your videos',
}

export function inWords(scope: string): string {
  return isKnownScope(scope) ? WORDS[scope] : `${scope}: opens nothing on this server`
}
