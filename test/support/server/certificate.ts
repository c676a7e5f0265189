/** Throw-away certificates, so that tests need no program of the system. */
import { generateKeyPairSync } from 'node:crypto'
import {
  type Certified,
  certify,
  forAuthority,
  forHosts,
  type Issuer,
} from '../../../src/kit/crypto/certificate.ts'

export type { Certified } from '../../../src/kit/crypto/certificate.ts'

/** A certificate authority of the test, and certificates that it issues for host names. */
export class CertificateAuthority {
  readonly cert: string
  readonly #issuer: Issuer

  constructor(name = 'An authority of a test') {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#issuer = { name, key: privateKey }
    this.cert = certify({
      subject: name,
      publicKey,
      extensions: [forAuthority()],
      issuer: this.#issuer,
      days: 1,
    })
  }

  issue(host: string): Certified {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const issuer = this.#issuer
    return {
      cert: certify({ subject: host, publicKey, extensions: [forHosts([host])], issuer, days: 1 }),
      key,
    }
  }
}
