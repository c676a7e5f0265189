// Lints the OpenAPI documents that the command line names. Prints the findings as JSON.
import { readFileSync } from 'node:fs'
import core from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'

const spectral = new core.Spectral()
spectral.setRuleset({
  extends: [[rulesets.oas, 'all']],
  rules: {
    // Every operation has a summary; a description is for those that need more words.
    'operation-description': 'off',
    // The author of the program does not run the server. Its operator is whom to contact, and the contract knows none.
    'info-contact': 'off',
    // OpenAPI 3.1 has `identifier`, which excludes `url`.
    'license-url': 'off',
    // Tags are in the order of the reference: the public API first.
    'openapi-tags-alphabetical': 'off',
  },
})

const findings = []
for (const file of process.argv.slice(2)) {
  const found = await spectral.run(JSON.parse(readFileSync(file, 'utf8')))
  findings.push(...found.map(({ code, message, path }) => ({ file, code, message, path: path.join('/') })))
}
process.stdout.write(JSON.stringify(findings))
