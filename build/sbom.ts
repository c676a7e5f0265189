import { randomUUID } from 'node:crypto'
import manifest from '../package.json' with { type: 'json' }
import { bundledPackages, directPackages, TYPEFACE } from './bundled-packages.ts'

/** The software bill of materials of the package and the executables, as CycloneDX 1.6. */
export function createSbom(now: Date) {
  const packages = bundledPackages()
  const own = toComponent({ ...manifest, type: 'application' })
  const components = [
    ...packages.map(each => ({
      ...toComponent({ ...each, type: 'library' }),
      hashes: [{ alg: 'SHA-512', content: toHex(each.integrity) }],
    })),
    toComponent({ ...TYPEFACE, type: 'library' }),
  ]
  const refs = new Map(packages.map(each => [each.name, toPurl(each)]))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${randomUUID()}`,
    version: 1,
    metadata: { timestamp: now.toISOString(), lifecycles: [{ phase: 'build' }], component: own },
    components,
    dependencies: [
      { ref: own['bom-ref'], dependsOn: toRefs([...directPackages(manifest), TYPEFACE.name]) },
      ...packages.map(each => ({ ref: toPurl(each), dependsOn: toRefs(each.needs) })),
      { ref: toPurl(TYPEFACE), dependsOn: [] },
    ],
  }

  function toRefs(names: readonly string[]): readonly string[] {
    return names.map(name => refs.get(name) ?? toPurl(TYPEFACE))
  }
}

interface Named {
  readonly name: string
  readonly version: string
}

function toComponent({ type, name, version, license }: Named & { type: string; license: string }) {
  const purl = toPurl({ name, version })
  return { type, 'bom-ref': purl, name, version, licenses: [{ license: { id: license } }], purl }
}

function toPurl({ name, version }: Named): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function toHex(integrity: string): string {
  return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
}
