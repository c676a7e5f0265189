/** @jsxRuntime automatic @jsxImportSource preact */
/** Copies the value of a field. Without scripts there is no button, and the field can be selected. */
import { CopyButton } from '../components/copy-button.tsx'
import { island } from '../scripts/island.tsx'

export const ConsoleCopy = island('console-copy', function ConsoleCopy({ of }: { of: string }) {
  const value = () => (document.getElementById(of) as HTMLInputElement).value
  return <CopyButton label="it" text={value} className="" />
})
