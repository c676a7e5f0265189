import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { exportLines, importLines } from '../../src/contract/control/transfer.ts'
import { listFields, TRANSFER_TYPES, transferLines } from '../../src/contract/resources/transfer.ts'
import { MAX_LINE_BYTES } from '../../src/transfer/lines.ts'
import { readLine } from '../../src/transfer/read-line.ts'

const text = readFileSync('docs/transfer.md', 'utf8')

test('docs/transfer.md lists every type with every field, in the order of an export', () => {
  const rows = [...text.matchAll(/^\| `(\w+)` \| (`.*) \|$/gm)].map(([, type, fields]) => [type, fields])
  const declared = TRANSFER_TYPES.map(type => {
    const required: readonly string[] = transferLines[type].required
    const names = Object.keys(listFields(type)).filter(name => name !== 'type')
    return [type, names.map(name => `\`${name}\`${required.includes(name) ? '' : '?'}`).join(', ')]
  })
  expect(rows).toEqual(declared)
  expect(text).toContain(`${MAX_LINE_BYTES} bytes`)
})

test('the lines in docs/transfer.md and in the examples are lines', () => {
  const lines = text.match(/^\{"type".*$/gm) ?? []
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) expect(readLine(line).type).toBeString()
  for (const line of [...exportLines.example.answer, ...importLines.example.body])
    expect(readLine(JSON.stringify(line)).type).toBeString()
})
