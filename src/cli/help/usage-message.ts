import type { Command } from 'commander'
import { pathTo } from './unknown-command.ts'

/** The messages of the command parser, and what is written instead: what is wrong, where, and what to do. */
const MESSAGES: readonly (readonly [RegExp, (path: string, ...parts: string[]) => string])[] = [
  [/^missing required argument '(.+)'$/, (path, name) => `${path} requires <${name}>; ${seeHelp(path)}`],
  [/^required option '(\S+).*' not specified$/, (path, flag) => `${path} requires ${flag}; ${seeHelp(path)}`],
  [
    /^option '(\S+).*' argument missing$/,
    (path, flag) => `invalid ${flag}: requires a value; ${seeHelp(path)}`,
  ],
  [
    /^unknown option '(.+)'\n\(Did you mean (.+)\?\)$/,
    (_, flag, near) => `unknown option '${flag}': did you mean ${near}?`,
  ],
  [/^unknown option '(.+)'$/, (path, flag) => `unknown option '${flag}'; ${seeHelp(path)}`],
  [
    /^too many arguments.*\. Expected (\d+) arguments? but got (\d+)\.$/,
    (path, expected, given) =>
      `too many arguments: ${path} takes ${expected}, not ${given}; ${seeHelp(path)}`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+)'\. Allowed choices are (.+)\.$/,
    (_, value, name, choices) => `invalid <${name}>: must be one of ${choices}, not "${value}"`,
  ],
  [
    /^option '(\S+).*' argument '(.*)' is invalid\. Allowed choices are (.+)\.$/,
    (_, flag, value, choices) => `invalid ${flag}: must be one of ${choices}, not "${value}"`,
  ],
]

const seeHelp = (path: string) => `see ${path} --help`

/** Words a message of the command parser, `error: ...`, as the other messages of `strand` are. */
export function wordUsageError(command: Command, text: string): string {
  const message = text.trim().replace(/^error: /, '')
  for (const [pattern, reword] of MESSAGES) {
    const [, ...parts] = pattern.exec(message) ?? []
    if (parts.length > 0) return `strand: ${reword(pathTo(command).join(' '), ...parts)}\n`
  }
  return `strand: ${message}\n`
}
