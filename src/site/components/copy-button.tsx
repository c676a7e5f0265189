import { useEffect, useState } from 'preact/hooks'
import { copyText } from '../copy-text.ts'

const SHOWN_MILLISECONDS = 2000

/** Copies a text, which may have to be looked up first. Without a script there is no button. */
export function CopyButton({ label, text }: { label: string; text: () => string | Promise<string> }) {
  const [state, setState] = useState<'hidden' | 'ready' | 'copied' | 'failed'>('hidden')
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
    <button
      type="button"
      class="small-button"
      hidden={state === 'hidden'}
      aria-label={`Copy ${label}`}
      onClick={copy}
    >
      <span aria-live="polite">
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Not copied' : 'Copy'}
      </span>
    </button>
  )
}
