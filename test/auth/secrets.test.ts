import { describe, expect, test } from 'bun:test'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { isWellFormed, mintSecret } from '../../src/auth/tokens.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { SecretBox } from '../../src/kit/crypto/secret-box.ts'

const key = (id: string, fill: number) => ({ id, bytes: new Uint8Array(32).fill(fill) })

describe('tokens', () => {
  test('are distinguished from mistyped ones without a look-up', () => {
    for (const kind of ['app', 'user', 'refresh', 'secret', 'operator'] as const) {
      const token = mintSecret(kind)
      expect(token).toMatch(/^s[a-z]{3}_[A-Za-z0-9]{38}$/)
      expect(isWellFormed(token)).toBe(true)
      for (let at = 0; at < token.length; at++) {
        const other = token[at] === 'x' ? 'y' : 'x'
        expect(isWellFormed(token.slice(0, at) + other + token.slice(at + 1))).toBe(false)
      }
    }
    expect(new Set(Array.from({ length: 1000 }, () => mintSecret('app'))).size).toBe(1000)
  })
})

describe('sealed secrets', () => {
  test('open with any key of the ring, in their own context only', () => {
    const old = new SecretBox(new KeyRing([key('old', 1)]), 'test')
    const sealed = old.seal('secret text', 'user 1')
    expect(sealed.sealed).not.toContain('secret')
    const both = new SecretBox(new KeyRing([key('new', 2), key('old', 1)]), 'test')
    expect(both.open(sealed, 'user 1')).toBe('secret text')
    expect(both.open(sealed, 'user 2')).toBeUndefined()
    expect(both.seal('x', 'y').key_id).toBe('new')
    expect(new SecretBox(new KeyRing([key('new', 2)]), 'test').open(sealed, 'user 1')).toBeUndefined()
    expect(
      new SecretBox(new KeyRing([key('old', 1)]), 'another purpose').open(sealed, 'user 1'),
    ).toBeUndefined()
  })

  test('an altered byte is found', () => {
    const box = new SecretBox(new KeyRing([key('k', 1)]), 'test')
    const sealed = box.seal('secret', 'context')
    const bytes = Buffer.from(sealed.sealed, 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes)
      altered[at] = (altered[at] ?? 0) ^ 1
      expect(box.open({ ...sealed, sealed: altered.toString('base64url') }, 'context')).toBeUndefined()
    }
    expect(box.open({ ...sealed, sealed: '' }, 'context')).toBeUndefined()
  })

  test('a stream key copied to another channel does not open there', () => {
    const keys = new StreamKeys(new KeyRing([key('k', 1)]))
    const { key: plain, stored } = keys.mint('141', 1)
    expect(plain).toMatch(/^live_141_[A-Za-z0-9]{30}$/)
    expect(keys.open('141', { ...stored, slot: 1 })).toBe(plain)
    expect(keys.open('142', { ...stored, slot: 1 })).toBeUndefined()
    expect(keys.open('141', { ...stored, slot: 2 })).toBeUndefined()
    expect(keys.open('141', { ...stored, slot: '1' })).toBeUndefined()
  })

  test('an extra stream key copied to another name does not open there', () => {
    const keys = new StreamKeys(new KeyRing([key('k', 1)]))
    const { key: plain, stored } = keys.mint('141', 'guest')
    expect(plain).toMatch(/^live_141_[A-Za-z0-9]{30}$/)
    expect(keys.open('141', { ...stored, slot: 'guest' })).toBe(plain)
    expect(keys.open('141', { ...stored, slot: 'other' })).toBeUndefined()
    expect(keys.open('142', { ...stored, slot: 'guest' })).toBeUndefined()
  })
})
