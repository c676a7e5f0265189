import type { Dialect } from '../../sql/tag.ts'

/**
 * OpenID Connect: what an authorization code has to bring to its ID token, and the keys that sign ID tokens.
 *
 * The nonce is in a table beside the codes and not in a column of theirs, so that nodes of the version before can go on
 * writing codes during a rolling upgrade. Signing keys are numbered without gaps: of several nodes that make the next one,
 * the first wins. The public half is stored as it is published, the private half sealed with a master key.
 */
export const openid = ({ key }: Dialect): string => `
create table if not exists openid_requests (
  hash ${key} primary key references authorization_codes (hash) on delete cascade,
  nonce text,
  authenticated_at ${key} not null
);

create table if not exists signing_keys (
  number integer primary key,
  kid ${key} not null unique,
  public_jwk text not null,
  key_id ${key} not null,
  sealed text not null,
  created_at ${key} not null
);
`
