import { createStreamMarker } from '../../contract/helix/create-stream-marker.ts'
import { theUser } from '../../domain/access.ts'
import { sha256Hex } from '../../kit/crypto/digest.ts'
import { hexId } from '../../kit/id.ts'
import { answerOne, implement } from '../implement.ts'

export const handleCreateStreamMarker = implement(
  createStreamMarker,
  async ({ body, caller, idempotencyKey }, { store, clock }) => {
    const { client_id, user_id } = theUser(caller)
    const description = body.description ?? ''
    const marker = await store.commands.createMarker({
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
    return answerOne(marker)
  },
)
