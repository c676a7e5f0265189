import { expect } from 'bun:test'
import { getSigningKeys } from '../../../src/contract/oauth/get-signing-keys.ts'
import { describeOperation, send } from '../../support/operation.ts'

const DAY = 24 * 3600
const valid = () => ({})

describeOperation(getSigningKeys, { valid }, ({ ok }) => {
  ok('has one key of 2048 bits, the same each time, and nothing private in it', async server => {
    const { body, headers } = await send(server, getSigningKeys, {})
    expect(body.keys).toHaveLength(1)
    const [key] = body.keys
    expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    expect([key.kty, key.use, key.alg, key.e]).toEqual(['RSA', 'sig', 'RS256', 'AQAB'])
    expect(Buffer.from(key.n, 'base64url')).toHaveLength(256)
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    expect((await send(server, getSigningKeys, {})).body).toEqual(body)
  })

  ok('is replaced after 90 days, and published for a day longer', async server => {
    const kids = async (): Promise<string[]> =>
      (await send(server, getSigningKeys, {})).body.keys.map((key: { kid: string }) => key.kid)
    const advance = (seconds: number) => server.control('POST', '/clock', { advance_seconds: seconds })
    const [first = ''] = await kids()
    await advance(89 * DAY)
    expect(await kids()).toEqual([first])
    await advance(2 * DAY)
    // The next one is made beside: the list is asked for until it has it.
    let both: string[] = []
    for (let tries = 0; tries < 500 && both.length < 2; tries++) {
      both = await kids()
      await Bun.sleep(10)
    }
    expect(both).toEqual([expect.any(String), first])
    await advance(2 * DAY)
    expect(await kids()).toEqual([both[0] ?? ''])
  })
})
