import { createStreamMarker } from '../../contract/helix/create-stream-marker.ts'
import { raise } from '../../contract/problem.ts'
import { theUser } from '../../domain/access.ts'
import { sha256Hex } from '../../kit/digest.ts'
import { hexId } from '../../kit/id.ts'
import { implement } from '../implement.ts'

export const handleCreateStreamMarker = implement(
  createStreamMarker,
  async ({ body, caller, idempotencyKey }, { store, clock }) => {
    const { client_id, user_id } = theUser(caller)
    const description = body.description ?? ''
    const result = await store.commands.createMarker({
      marker_id: hexId(),
      broadcaster_id: body.user_id,
      description,
      caller: { client_id, user_id },
      idempotency:
        idempotencyKey === undefined
          ? undefined
          : { key: idempotencyKey, fingerprint: sha256Hex(JSON.stringify([body.user_id, description])) },
      now: clock.now(),
    })
    switch (result.outcome) {
      case 'done':
        return { data: [result.marker] }
      case 'reused_key':
        return raise('idempotency_key_reused')
      case 'user_not_found':
        return raise('user_not_found', body.user_id)
      case 'forbidden':
        return raise('marker_forbidden', result.login)
      case 'not_live':
      case 'vods_off':
        return raise(result.outcome, result.login)
    }
  },
)
