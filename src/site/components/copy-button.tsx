/** @jsxRuntime automatic @jsxImportSource preact */
import { useEffect, useState } from 'preact/hooks'
import { copyText } from '../scripts/copy-text.ts'

const SHOWN_MILLISECONDS = 2000
const WORDS = { hidden: 'Copy', ready: 'Copy', copied: 'Copied', failed: 'Not copied' } as const

interface CopyProps {
  readonly label: string
  readonly text: () => string | Promise<string>
  readonly className?: string
}

/** Copies a text, which may have to be looked up first. Without a script there is no button. */
export function CopyButton({ label, text, className = 'small-button' }: CopyProps) {
  const [state, setState] = useState<keyof typeof WORDS>('hidden')
  useEffect(() => setState('ready'), [])
  useEffect(() => {
    if (state !== 'copied' && state !== 'failed') return
    const timer = setTimeout(() => setState('ready'), SHOWN_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => {
    try {
      await copyText(await text())
      setState('copied')
    } catch {
      setState('failed')
    }
  }
  return (
    <button type="button" class={className} hidden={state === 'hidden'} onClick={copy}>
      <span aria-live="polite">{WORDS[state]}</span>
      <span class="hidden-text"> {label}</span>
    </button>
  )
}
