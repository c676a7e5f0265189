import { Argument, Command } from 'commander'
import { print } from '../terminal/print.ts'
import { visibleAt } from './command-tree.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export const completionCommand = new Command('completion')
  .description('print a shell completion script')
  .addArgument(new Argument('<shell>', 'shell to complete in').choices(SHELLS))
  .addHelpText(
    'after',
    `
Examples:
  source <(strand completion bash)
  strand completion zsh > _strand
  strand completion fish > strand.fish

To install it permanently, add the first line to ~/.bashrc, write the second
file to a folder in zsh's fpath, or the third to ~/.config/fish/completions.`,
  )
  .action((shell: Shell) => print(SCRIPTS[shell]))

/** Called by the scripts on every Tab with the words of the line up to the cursor. */
export const completeCommand = new Command('__complete')
  .argument('[words...]')
  .action((words: string[], _flags: unknown, { parent }: Command) => {
    const candidates = parent === null ? [] : candidatesFor(parent, words)
    return print(candidates.map(({ word, meaning }) => `${word}\t${meaning}\n`).join(''))
  })

export interface Candidate {
  readonly word: string
  readonly meaning: string
}

/** Completions of the last word. None where any value is allowed: the shell then completes file names. */
export function candidatesFor(program: Command, words: readonly string[]): Candidate[] {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const command = before.reduce(
    (at, word) => visibleAt(at).commands.find(each => each.name() === word) ?? at,
    program,
  )
  const { commands, options } = visibleAt(command)
  const flag = options.find(option => option.long === before.at(-1))
  const candidates = flag?.required
    ? choices(flag)
    : [
        ...commands.map(each => candidate(each.name(), each.summary() || each.description())),
        ...command.registeredArguments.flatMap(choices),
        ...options.map(option => candidate(option.long ?? '', option.description)),
      ]
  return candidates.filter(({ word }) => word.startsWith(typed))
}

const choices = ({ argChoices = [] }: { argChoices?: string[] | undefined }) =>
  argChoices.map(value => candidate(value, ''))

/** The shell shows the first sentence of the description beside the word. */
function candidate(word: string, description: string): Candidate {
  return { word, meaning: (description.split(/[.;] /)[0] ?? '').replaceAll(/\s+/g, ' ') }
}

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Completion of strand for bash, from: strand completion bash
_strand() {
  local IFS=$'\\n'
  COMPREPLY=($(strand __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _strand strand
`,

  zsh: `#compdef strand
# Completion of strand for zsh, from: strand completion zsh
_strand() {
  local -a offered
  offered=(\${(f)"$(strand __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | cut -f 1)"})
  if (( $#offered )); then compadd -- $offered; else _files; fi
}
if [ "\${funcstack[1]}" = '_strand' ]; then _strand "$@"; else compdef _strand strand; fi
`,

  fish: `# Completion of strand for fish, from: strand completion fish
function __strand_complete
    set -l typed (commandline -ct)
    set -l offered (strand __complete -- (commandline -opc)[2..-1] $typed 2>/dev/null)
    if test (count $offered) -eq 0
        __fish_complete_path $typed
    else if string match -q -- '-*' $typed
        printf '%s\\n' $offered
    else
        printf '%s\\n' $offered | string match -v -- '--*'
    end
end
complete -c strand -f -a '(__strand_complete)'
`,
}
