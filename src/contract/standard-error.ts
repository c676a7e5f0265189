import type { ProblemName } from './problem.ts'

/** The error codes of RFC 6749 (5.2) and RFC 8628 (3.5). */
const CODES: Readonly<Partial<Record<ProblemName, string>>> = {
  invalid_client: 'invalid_client',
  missing_client_secret: 'invalid_client',
  invalid_client_secret: 'invalid_client',
  too_many_attempts: 'invalid_client',
  public_client: 'unauthorized_client',
  device_flow_off: 'unauthorized_client',
  invalid_code: 'invalid_grant',
  other_redirect: 'invalid_grant',
  wrong_verifier: 'invalid_grant',
  invalid_refresh_token: 'invalid_grant',
  invalid_device_code: 'expired_token',
  authorization_pending: 'authorization_pending',
  access_denied: 'access_denied',
  slow_down: 'slow_down',
  unsupported_grant_type: 'unsupported_grant_type',
  invalid_scope: 'invalid_scope',
  too_many_scopes: 'invalid_scope',
  too_many_requests: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  internal: 'server_error',
}

export function standardErrorText(name: ProblemName): string {
  return CODES[name] ?? 'invalid_request'
}
