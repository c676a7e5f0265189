import type { Dialect } from '../../sql/tag.ts'

/**
 * OpenID Connect: what an authorization code passes to its ID token, and the keys that sign ID tokens.
 *
 * The nonce is in a separate table and not in a column of the codes, so that nodes of the previous version can still write
 * codes during a rolling upgrade. Signing keys are numbered without gaps: if several nodes create the next one, the first
 * wins. The public key is stored as it is published, the private key encrypted with a master key.
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
