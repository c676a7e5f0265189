/** Throw-away certificates in X.509, written by hand so that tests need no program of the system. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const der = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Uint8Array.from([tag, ...size]), content])
}
const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const utf8 = (text: string) => der(0x0c, Buffer.from(text))
const time = (at: Date) =>
  der(
    0x17,
    Buffer.from(
      `${at
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')
        .slice(2)}`,
    ),
  )
const nameOf = (text: string) => sequence(der(0x31, sequence(oid('550403'), utf8(text))))
const extension = (id: string, value: Uint8Array, critical = false) =>
  sequence(oid(id), ...(critical ? [der(0x01, Uint8Array.of(0xff))] : []), der(0x04, value))

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))
const DAY = 24 * 3600 * 1000

interface Issuer {
  readonly name: string
  readonly key: KeyObject
}

function certify(subject: string, publicKey: KeyObject, extensions: Uint8Array, issuer: Issuer): string {
  const tbs = sequence(
    der(0xa0, der(0x02, Uint8Array.of(2))),
    der(0x02, Buffer.concat([Uint8Array.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    sequence(time(new Date(Date.now() - DAY)), time(new Date(Date.now() + DAY))),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extensions)),
  )
  const signature = der(0x03, Uint8Array.of(0), sign('sha256', tbs, issuer.key))
  const body = sequence(tbs, ECDSA_WITH_SHA256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${body.replace(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----\n`
}

export interface Certified {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of the test, and certificates that it issues for host names. */
export class CertificateAuthority {
  readonly cert: string
  readonly #issuer: Issuer

  constructor(name = 'An authority of a test') {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#issuer = { name, key: privateKey }
    const isAuthority = extension('551d13', sequence(der(0x01, Uint8Array.of(0xff))), true)
    this.cert = certify(name, publicKey, isAuthority, this.#issuer)
  }

  issue(host: string): Certified {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const forHost = extension('551d11', sequence(der(0x82, Buffer.from(host))))
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    return { cert: certify(host, publicKey, forHost, this.#issuer), key }
  }
}
