import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { demoSecret } from '../../src/demo/demo-secret.ts'
import { planWorld } from '../../src/demo/world.ts'
import { KeyRing } from '../../src/kit/key-ring.ts'

/** The world that `npm start` serves, as one text. */
const streamKeys = new StreamKeys(new KeyRing([{ id: 'any', bytes: new Uint8Array(32) }]))
const plan = planWorld({ seed: 42, streams: 200 }, Date.now(), streamKeys)
const world = `${JSON.stringify(plan.world)} ${JSON.stringify(plan.steps)} ${demoSecret(42, 'operator', 'demo')}`

const PLACEHOLDERS = ['11111111-2222-4333-8444-555555555555', '00000000-0000-4000-8000-000000000000']

for (const document of ['README.md', 'docs/quickstart.md', 'docs/drops.md', 'docs/oauth.md']) {
  test(`${document} quotes tokens, ids and logins that the demo has`, () => {
    const text = readFileSync(document, 'utf8')
    const quoted = [
      ...(text.match(/\bs(?:app|usr|ref|sec|opr)_[A-Za-z0-9]{38}\b/g) ?? []),
      ...(text.match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g) ?? []),
      ...(text.match(/\b1[0-9]{8}\b/g) ?? []),
    ]
    expect(quoted.length).toBeGreaterThan(2)
    expect(
      [...new Set(quoted)].filter(each => !PLACEHOLDERS.includes(each) && !world.includes(each)),
    ).toEqual([])
  })
}
