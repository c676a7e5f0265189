/** @jsxRuntime automatic @jsxImportSource preact */
/** Copies the value of a field. Without scripts there is no button, and the field can be selected. */
import { useEffect, useState } from 'preact/hooks'
import { island } from '../island.tsx'

const SHOWN_MILLISECONDS = 2000

export const ConsoleCopy = island('console-copy', function ConsoleCopy({ of }: { of: string }) {
  const [state, setState] = useState<'none' | 'ready' | 'copied'>('none')
  useEffect(() => setState('ready'), [])
  if (state === 'none') return null
  const copy = async () => {
    const field = document.getElementById(of) as HTMLInputElement
    field.select()
    // Over plain HTTP there is no clipboard; the text is selected.
    await navigator.clipboard?.writeText(field.value)
    setState('copied')
    setTimeout(() => setState('ready'), SHOWN_MILLISECONDS)
  }
  return (
    <button type="button" onClick={copy}>
      {state === 'copied' ? 'Copied' : 'Copy'}
    </button>
  )
})
