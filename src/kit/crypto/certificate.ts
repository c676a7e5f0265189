/** Certificates in X.509, for listeners on loopback: the runtime can use them, but cannot create them. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const DAY_MILLISECONDS = 24 * 3600 * 1000

export interface Certified {
  /** The certificate and its private key, in PEM. */
  readonly cert: string
  readonly key: string
}

export interface Issuer {
  readonly name: string
  readonly key: KeyObject
}

/** A certificate for these host names that signs itself. It is no authority: who trusts it trusts these names only. */
export function selfSignedCertificate(name: string, hosts: readonly string[], days: number): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const extensions = [
    // Not an authority, and only for servers.
    extension('551d13', sequence(), true),
    extension('551d0f', der(0x03, Uint8Array.of(7, 0x80)), true),
    extension('551d25', sequence(oid('2b06010505070301'))),
    forHosts(hosts),
  ]
  const issuer = { name, key: privateKey }
  return {
    cert: certify({ subject: name, publicKey, extensions, issuer, days }),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

interface CertificateRequest {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly extensions: readonly Uint8Array[]
  readonly issuer: Issuer
  /** How long it is valid; it is since yesterday, because clocks differ. */
  readonly days: number
}

/** The certificate in PEM. */
export function certify({ subject, publicKey, extensions, issuer, days }: CertificateRequest): string {
  const now = Date.now()
  const content = sequence(
    der(0xa0, der(0x02, Uint8Array.of(2))),
    der(0x02, Buffer.concat([Uint8Array.of(1), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    commonName(issuer.name),
    sequence(time(now - DAY_MILLISECONDS), time(now + days * DAY_MILLISECONDS)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = der(0x03, Uint8Array.of(0), sign('sha256', content, issuer.key))
  const body = sequence(content, ECDSA_WITH_SHA256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${body.replace(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----\n`
}

/** The extension that names the hosts of a certificate. */
export function forHosts(hosts: readonly string[]): Uint8Array {
  return extension('551d11', sequence(...hosts.map(host => der(0x82, Buffer.from(host)))))
}

/** The extension of a certificate that may sign others. */
export function forAuthority(): Uint8Array {
  return extension('551d13', sequence(der(0x01, Uint8Array.of(0xff))), true)
}

/** An element in DER: tag, length, content. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Uint8Array.from([tag, ...size]), content])
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, ...parts)
}

/** An object identifier, by its encoded bytes. */
function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')
  return der(0x17, Buffer.from(digits.slice(2)))
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))))
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [der(0x01, Uint8Array.of(0xff))] : []), der(0x04, value))
}
