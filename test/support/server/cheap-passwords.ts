/**
 * A password takes a quarter of a second of processor time to hash or compare, on purpose. Tests of other things than that
 * time let the runtime use a hundredth of it. Sign-up and login at the real cost are in test/site/login.test.ts.
 */
import { afterAll, beforeAll, spyOn } from 'bun:test'

const CHEAP = { algorithm: 'argon2id', memoryCost: 1024, timeCost: 1 } as const

/** For all tests of a file. */
export function usingCheapPasswords(): void {
  const { hash, verify } = Bun.password
  const spies: { mockRestore(): void }[] = []
  beforeAll(() => {
    spies.push(
      spyOn(Bun.password, 'hash').mockImplementation(password => hash(password, CHEAP)),
      spyOn(Bun.password, 'verify').mockImplementation((password, expected) =>
        // The hash that stands for an unknown user has the real cost too.
        verify(
          password,
          String(expected).replace(/\$m=\d+,t=\d+,/, `$m=${CHEAP.memoryCost},t=${CHEAP.timeCost},`),
        ),
      ),
    )
  })
  afterAll(() => {
    for (const spy of spies) spy.mockRestore()
  })
}
