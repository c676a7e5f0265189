import { Argument, Command } from 'commander'
import { type Place, placesUnder } from './command-tree.ts'
import { print } from './print.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export const completionCommand = new Command('completion')
  .description('print what teaches a shell the words of strand')
  .addArgument(new Argument('<shell>').choices(SHELLS))
  .addHelpText(
    'after',
    `
Examples:
  source <(strand completion bash)
  strand completion zsh > _strand
  strand completion fish > strand.fish

For good: put the first line into ~/.bashrc, the second file into a folder of zsh's fpath, the third into
~/.config/fish/completions.`,
  )
  .action((shell: Shell, _flags: unknown, command: Command) => {
    const places = placesUnder(command.parent ?? command)
    return print(SCRIPTS[shell](places))
  })

/** The values of an argument that takes one of a few. */
const valuesAt = ({ command }: Place) =>
  command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)

const wordsAt = (place: Place) => [
  ...place.commands.map(command => command.name()),
  ...valuesAt(place),
  ...place.options.map(option => option.long ?? ''),
]

/** What may stand behind each flag that takes one of a few values: `client create --kind`, and the values. */
function choicesIn(places: readonly Place[]): (readonly [where: string, values: readonly string[]])[] {
  return places.flatMap(({ path, options }) =>
    options.flatMap(option =>
      option.argChoices === undefined ? [] : [[`${path} ${option.long}`, option.argChoices] as const],
    ),
  )
}

/** Flags behind which something else stands: there neither words nor flags are offered, but files. */
function valueFlagsIn(places: readonly Place[]): string[] {
  const taking = places.flatMap(({ options }) => options.filter(option => option.required))
  return [...new Set(taking.map(option => option.long ?? ''))]
}

const SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: places => `# Words of strand for bash. Made by: strand completion bash
_strand() {
  local word="\${COMP_WORDS[COMP_CWORD]}" at='' each i
  for ((i = 1; i < COMP_CWORD; i++)); do
    each="\${COMP_WORDS[i]}"
    case "\${at:+$at }$each" in
      ${alternatives(pathsIn(places))}) at="\${at:+$at }$each" ;;
    esac
  done
  COMPREPLY=()
  case "\${at:+$at }\${COMP_WORDS[COMP_CWORD - 1]}" in
${choicesIn(places)
  .map(
    ([where, values]) =>
      `    '${where}') COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word")); return ;;`,
  )
  .join('\n')}
  esac
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    ${alternatives(valueFlagsIn(places))}) return ;;
  esac
  case "$at" in
${places.map(place => `    '${place.path}') COMPREPLY=($(compgen -W '${wordsAt(place).join(' ')}' -- "$word")) ;;`).join('\n')}
  esac
}
complete -o default -F _strand strand
`,

  zsh: places => `#compdef strand
# Words of strand for zsh. Made by: strand completion zsh
_strand() {
  local at='' each
  for each in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$each" in
      ${alternatives(pathsIn(places))}) at="\${at:+$at }$each" ;;
    esac
  done
  case "\${at:+$at }\${words[CURRENT-1]}" in
${choicesIn(places)
  .map(([where, values]) => `    '${where}') compadd -- ${values.join(' ')}; return ;;`)
  .join('\n')}
  esac
  case "\${words[CURRENT-1]}" in
    ${alternatives(valueFlagsIn(places))}) _files; return ;;
  esac
  case "$at" in
${places.map(place => `    '${place.path}') compadd -- ${wordsAt(place).join(' ')} ;;`).join('\n')}
  esac
}
if [ "\${funcstack[1]}" = '_strand' ]; then _strand "$@"; else compdef _strand strand; fi
`,

  fish: places => `# Words of strand for fish. Made by: strand completion fish
set -g __strand_paths ${pathsIn(places)
    .map(path => `'${path}'`)
    .join(' ')}
function __strand_at
    set -l at
    for each in (commandline -opc)[2..-1]
        if contains -- (string join -- ' ' $at $each) $__strand_paths
            set at $at $each
        end
    end
    test "$at" = "$argv"
end
${places.flatMap(fishLines).join('\n')}
`,
}

const pathsIn = (places: readonly Place[]) => places.map(({ path }) => path).filter(path => path !== '')
const alternatives = (words: readonly string[]) => words.map(word => `'${word}'`).join(' | ')

function fishLines(place: Place): string[] {
  const { path, commands, options } = place
  const here = `complete -c strand -n "__strand_at ${path}"`
  const reported = (text: string) => `-d '${firstSentence(text).replaceAll("'", "\\'")}'`
  return [
    ...commands.map(command => `${here} -f -a ${command.name()} ${reported(command.description())}`),
    ...valuesAt(place).map(value => `${here} -f -a ${value}`),
    ...options.map(option => {
      const choices = option.argChoices === undefined ? '' : ` -x -a '${option.argChoices.join(' ')}'`
      const takes = option.required && option.argChoices === undefined ? ' -r' : ''
      return `${here} -l ${option.long?.slice(2)}${choices}${takes} ${reported(option.description)}`
    }),
  ]
}

const firstSentence = (text: string) => text.split(/[.;] /)[0]?.replaceAll('\n', ' ') ?? ''
