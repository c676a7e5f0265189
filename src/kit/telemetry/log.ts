import type { Logger, pino } from 'pino'
import { lazy } from '../lazy.ts'
import { LineWriter } from './line-writer.ts'

export type Log = Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'isLevelEnabled'>

/** Loaded with the first log: most commands have nothing to log, and loading it takes as long as half of their work. */
const loadPino = lazy(() => (require('pino') as { readonly pino: typeof pino }).pino)

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

interface LogOptions {
  readonly level: LogLevel
  readonly readable: boolean
  /** Fields of every line, such as the process that it comes from. */
  readonly base?: Readonly<Record<string, string>>
  readonly write?: (line: string) => void
}

/** Formats the line with the number of dropped lines, in the format of the log created last. */
let lostLine = (count: number) => `${count} log lines were dropped\n`

/** Standard error, for the log of this process. */
export const logLines = new LineWriter(process.stderr, count => lostLine(count))

/** JSON lines, or for a terminal `12:00:00 info  message  name=value`. */
export function createLog(options: LogOptions): Log {
  if (options.write !== undefined) return logTo(options, options.write)
  lostLine = count => {
    let line = ''
    const log = logTo({ ...options, level: 'warn' }, text => {
      line = text
    })
    log.warn({ lost: count }, 'log lines were dropped because the reader of standard error stalled')
    return line
  }
  return logTo(options, line => logLines.write(line))
}

/** A log for errors of a command, made when there is one. */
export function createErrorLog(): Log {
  const log = lazy(() => createLog({ level: 'error', readable: true }))
  const ignore = () => undefined
  return {
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (...line: Parameters<Log['error']>) => log().error(...line),
    fatal: (...line: Parameters<Log['fatal']>) => log().fatal(...line),
    isLevelEnabled: level => level === 'error' || level === 'fatal',
  }
}

function logTo({ level, readable: isReadable, base }: LogOptions, write: (line: string) => void): Log {
  return loadPino()(
    {
      level,
      base: base ?? null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    { write: isReadable ? line => write(readable(line)) : write },
  )
}

function readable(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>
  const details = Object.entries(rest)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(msg ?? '')}${details && `  ${details}`}\n`
}
