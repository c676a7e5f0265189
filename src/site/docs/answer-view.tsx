/** @jsxRuntime automatic @jsxImportSource preact */
/** The answer to a tried request: status, time, the headers that matter, and the body. */
import { useEffect, useRef } from 'preact/hooks'
import { addCopyButtons } from './copy.ts'
import { highlight } from './highlight.ts'
import type { Answer } from './send.ts'

export const AnswerView = ({ answer }: { answer: Answer }) => {
  const { status, milliseconds, headers, text, bytes, isCut } = answer
  const isFailure = status >= 400
  const body = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (body.current === null) return
    if (body.current.querySelector('.copy') === null) addCopyButtons(body.current)
    highlight(body.current)
  }, [text])
  return (
    <>
      <p class={`status-line ${isFailure ? 'bad' : 'good'}`} role={isFailure ? 'alert' : 'status'}>
        <strong>
          {status} {answer.reason}
        </strong>
        <span class="num">{Math.round(milliseconds)} ms</span>
        <span class="num">{sizeInWords(bytes)}</span>
      </p>
      {isFailure && <p class="notice bad">{messageIn(answer)}</p>}
      <dl class="answer-headers num">
        {headers.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{withTime(name, value)}</dd>
          </div>
        ))}
      </dl>
      {text !== '' && (
        <div ref={body}>
          <figure class="example">
            <figcaption>Body</figcaption>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
            <pre tabIndex={0}>
              <code>{text}</code>
            </pre>
          </figure>
        </div>
      )}
      {isCut && <p class="hint">Only the beginning is shown.</p>}
    </>
  )
}

/** The message of a failure, or what stands for it. */
function messageIn({ text, isJson, reason, status }: Answer): string {
  if (isJson) {
    const { message } = JSON.parse(text) as { message?: unknown }
    if (typeof message === 'string') return message
  }
  return reason || `The server answered with ${status}.`
}

const sizeInWords = (bytes: number) => (bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} KB`)

/** The bucket is full again at a Unix time, which few people can read. */
function withTime(name: string, value: string): string {
  if (name !== 'Ratelimit-Reset' || !/^\d+$/.test(value)) return value
  return `${value} (${new Date(Number(value) * 1000).toISOString().slice(11, 19)} UTC)`
}
