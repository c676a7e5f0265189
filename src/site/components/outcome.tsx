/** @jsxRuntime automatic @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { SessionEnded } from '../scripts/page-token.ts'
import { isRefused } from '../scripts/refused.ts'
import { FormRefused } from '../scripts/send-form.ts'
import { Notice } from './form.tsx'

/** What a person does in an island, one thing at a time, and what came of the last one. */
export function useOutcome() {
  const [outcome, setOutcome] = useState<Parameters<typeof Notice>[0]>()
  const [isBusy, setIsBusy] = useState(false)
  /** Without a sentence, success needs no words. */
  const attempt = async (sentence: string | undefined, work: () => Promise<unknown>) => {
    if (isBusy) return
    setIsBusy(true)
    try {
      await work()
      if (sentence !== undefined) setOutcome({ kind: 'good', sentence })
    } catch (error) {
      setOutcome({ kind: 'bad', sentence: describeError(error) })
    }
    setIsBusy(false)
  }
  return { isBusy, attempt, notice: outcome && <Notice {...outcome} /> }
}

function describeError(error: unknown): string {
  const isForPeople = error instanceof FormRefused || error instanceof SessionEnded || isRefused(error)
  return isForPeople ? error.message : 'The server did not answer. Try again.'
}
