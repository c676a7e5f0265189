import { type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'isLevelEnabled'>

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Lines of JSON, or, for a person at a terminal, `12:00:00 info  message  name=value`. */
export function createLog(options: {
  level: LogLevel
  readable: boolean
  /** What every line is to carry, such as which of several processes it comes from. */
  base?: Readonly<Record<string, string>>
  write?: (line: string) => void
}): Log {
  const write = options.write ?? (line => process.stderr.write(line))
  return pino(
    {
      level: options.level,
      base: options.base ?? null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    { write: line => write(options.readable ? readable(line) : line) },
  )
}

function readable(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
  const details = Object.entries(rest)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg ?? '')}${details && `  ${details}`}\n`
}
