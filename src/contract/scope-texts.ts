import { isKnownScope, type KnownScope } from './scope.ts'

/** What each scope allows, as the consent page and the OpenAPI document show it. */
export const SCOPE_TEXTS: Readonly<Record<KnownScope, string>> = {
  openid: 'See who you are: your user id and display name',
  'user:read:entitlements': 'See the drops that you have earned',
  'user:manage:entitlements': 'Mark your drops as delivered or not delivered',
  'user:read:follows': 'See which channels you follow',
  'channel:read:stream_key': 'See your stream key, which lets anyone broadcast as you',
  'channel:manage:broadcast': 'Create markers in your streams and change your channel',
  'user:read:broadcast': 'See the markers in your videos',
  'user:read:email': 'See your email address',
  'user:edit': 'Change the description of your profile',
  'channel:manage:videos': 'Delete your videos',
  'channel:read:editors': 'See who may edit your channel',
  'user:read:drops': 'See how far you are in drops campaigns',
  'user:manage:drops': 'Claim drops that you have reached',
  'moderator:read:followers': 'See who follows your channel and the channels that you edit',
}

export function describeScope(scope: string): string {
  return isKnownScope(scope) ? SCOPE_TEXTS[scope] : `${scope}: has no effect on this server`
}
