import { OperatorError } from '../../kit/operator-error.ts'
import { readSmallFile } from '../../kit/small-file.ts'
import { UsageError } from '../usage-error.ts'

/** The error for an invalid value of a flag or an argument. */
export function invalid(name: string, requirement: string): UsageError {
  return new UsageError(`invalid ${name}: ${requirement}`)
}

/** Reads a whole number of at most 15 digits. */
export function wholeNumber(name: string, min: number, max?: number): (text: string) => number {
  return numberParser(/^[0-9]{1,15}$/, name, min, max)
}

/** Reads a number such as 0.25. */
export function decimalNumber(name: string, min: number, max?: number): (text: string) => number {
  return numberParser(/^[0-9]{1,15}(\.[0-9]{1,9})?$/, name, min, max)
}

function numberParser(form: RegExp, name: string, min: number, max?: number): (text: string) => number {
  return text => {
    const value = form.test(text) ? Number(text) : -1
    if (value >= min && value <= (max ?? value)) return value
    const range = max === undefined ? `at least ${min}` : `between ${min} and ${max}`
    throw invalid(name, `must be ${range}, not "${text}"`)
  }
}

export function httpUrl(name: string): (text: string) => string {
  return text => {
    if (/^https?:\/\//.test(text) && URL.canParse(text)) return text
    throw invalid(name, `must be an http or https URL, not "${text}"`)
  }
}

/** Reads the base URL of a server and removes trailing slashes. */
export function baseUrl(name: string): (text: string) => string {
  return text => httpUrl(name)(text).replace(/\/+$/, '')
}

/** Reads the file that a flag names; `shown` is the flag and the file, for the message. */
export function readGivenFile(shown: string, file: string, most: number): string {
  try {
    return readSmallFile(file, most)
  } catch (error) {
    throw new OperatorError(`cannot read ${shown}: ${(error as Error).message}`)
  }
}
