import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { OperatorError } from '../../kit/operator-error.ts'
import { markdownReference } from '../../reference/markdown.ts'
import { openapiDocument } from '../../reference/openapi.ts'
import { scenarioSchema } from '../../reference/scenario-schema.ts'
import { describeDefault, settings } from '../../settings.ts'
import { VERSION } from '../../version.ts'
import { print } from '../terminal/print.ts'
import { helpOf, placesUnder } from './command-tree.ts'

export const openapiCommand = new Command('openapi')
  .description('print the OpenAPI 3.1 document')
  .option('--server <url>', 'base URL to put into the document', 'http://localhost:8080')
  .addHelpText('after', '\nExample:\n  strand openapi > strand.openapi.json')
  .action((flags: { server: string }) => print(`${openapiText(flags.server)}\n`))

/** For the people who work on Strand: the reference under docs/ is made from the contract. */
export const docsCommand = new Command('docs')
  .description('write the generated reference to docs/reference')
  .option('--check', 'only check whether it is up to date', false)
  .option('--folder <folder>', 'where to write', 'docs/reference')
  .action((flags: { check: boolean; folder: string }, command: Command) => {
    const stale: string[] = []
    for (const [name, text] of generatedDocuments(command.parent ?? command)) {
      const file = join(flags.folder, name)
      if (flags.check) {
        if (read(file) !== text) stale.push(file)
      } else {
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, text)
      }
    }
    if (stale.length > 0) throw new OperatorError(`out of date: ${stale.join(', ')}; run npm run docs`)
  })

function generatedDocuments(program: Command): Map<string, string> {
  const documents = new Map<string, string>()
  for (const [family, text] of markdownReference()) documents.set(`${family}.md`, text)
  documents.set('openapi.json', `${openapiText('http://localhost:8080')}\n`)
  documents.set('settings.md', settingsPage())
  documents.set('scenario.schema.json', `${JSON.stringify(scenarioSchema(), null, 2)}\n`)
  documents.set('command.md', commandPage(program))
  return documents
}

function openapiText(serverUrl: string): string {
  return JSON.stringify(openapiDocument({ version: VERSION, serverUrl }), null, 2)
}

function settingsPage(): string {
  const rows = settings.map(
    setting =>
      `| \`${setting.name}\` | ${setting.meaning} | ${setting.kind.form} | ${describeDefault(setting) ?? ''} |`,
  )
  return [
    '# Settings',
    '',
    '<!-- Made from the program by `npm run docs`; changes here are overwritten. -->',
    '',
    'Set them in the environment or in the file of `--config`. Invalid ones are reported all at once.',
    '',
    '| Name | Meaning | Value | Default |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** The help of every command on one page. */
function commandPage(program: Command): string {
  const leaves = placesUnder(program).filter(({ commands }) => commands.length === 0)
  return [
    '# The command',
    '',
    '<!-- Made from the program by `npm run docs`; changes here are overwritten. -->',
    '',
    'For an introduction, see [command-line.md](../command-line.md).',
    ...leaves.map(
      ({ command, path }) => `\n## strand ${path}\n\n\`\`\`text\n${helpOf(command).trim()}\n\`\`\``,
    ),
    '',
  ].join('\n')
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
